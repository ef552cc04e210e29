"""Operators that ONNX Runtime brings along for its own domains, by the first release known to have a kernel for CPUs.

Its optimizer and quantizer write them. The lists are the kernels that releases 1.16, 1.18 and 1.32 register; what only
runs on other hardware is left out.
"""

from __future__ import annotations

from functools import cache

_LISTS: dict[str, dict[tuple[int, int], str]] = {
    "com.microsoft": {
        (1, 16): """
            Attention AttnLSTM BeamSearch BiasGelu BifurcationDetector CDist ConvTransposeWithDynamicPads CropAndResize
            DequantizeLinear DynamicQuantizeLSTM DynamicQuantizeMatMul EmbedLayerNormalization ExpandDims FastGelu
            FusedConv FusedGemm FusedMatMul GatherND Gelu GreedySearch GridSample Inverse MatMulBnb4 MatMulFpQ4
            MatMulInteger16 MatMulIntegerToFloat MatMulNBits MaxpoolWithMask MultiHeadAttention MurmurHash3
            NGramRepeatBlock NhwcMaxPool Pad QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool
            QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax
            QLinearWhere QuantizeLinear QuickGelu Range RotaryEmbedding SampleOp Sampling SkipLayerNormalization
            SkipSimplifiedLayerNormalization SparseToDenseMatMul Tokenizer TransposeMatMul Trilu Unique
            WordConvEmbedding
        """,
        (1, 18): "GroupQueryAttention WhisperBeamSearch",
        (1, 32): """
            DecoderMaskedMultiHeadAttention DynamicTimeWarping GatherBlockQuantized MoE QMoE SparseAttention
            UnfoldTensor
        """,
    },
    "com.microsoft.nchwc": {
        (1, 16): "AveragePool Conv GlobalAveragePool GlobalMaxPool MaxPool ReorderInput ReorderOutput Upsample"
    },
}
DOMAINS = tuple(_LISTS)


@cache
def built_in(domain: str) -> dict[str, tuple[int, int]]:
    """Operators of a domain with the release."""
    return {name: release for release, names in _LISTS.get(domain, {}).items() for name in names.split()}
