"""Standard operators: the version of its domain in which each first appeared, and in which some ended.

Besides what ONNX defines, the default domain holds a few operators of ONNX Runtime's own that its optimizer and
exporters write there. tests/validate compares the table with both libraries.
"""

from __future__ import annotations

from functools import cache

NEWEST = {"": 28, "ai.onnx.ml": 5}

_SINCE: dict[str, dict[int, str]] = {
    "": {
        1: """
            Abs Add Affine And ArgMax ArgMin AveragePool BatchNormalization Cast Ceil Clip Concat Constant Conv
            ConvTranspose Crop DepthToSpace Div Dropout DynamicSlice Elu Equal Exp Flatten Floor GRU GRUUnit Gather
            Gemm GivenTensorFill GlobalAveragePool GlobalLpPool GlobalMaxPool Greater HardSigmoid Hardmax Identity
            If ImageScaler InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Less Log LogSoftmax Loop
            LpNormalization LpPool MatMul Max MaxPool MaxRoiPool Mean MeanVarianceNormalization MemcpyFromHost
            MemcpyToHost Min Mul Neg Not Or PRelu Pad ParametricSoftplus Pow RNN RandomNormal RandomNormalLike
            RandomUniform RandomUniformLike Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax
            ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Scale ScaledTanh Selu Shape
            Sigmoid SimplifiedLayerNormalization Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt
            Squeeze Sub Sum Tanh ThresholdedRelu Tile TopK Transpose Unsqueeze Upsample Xor
        """,
        7: "Acos Asin Atan Cos Multinomial Sin Tan",
        8: "Expand Scan",
        9: """
            Acosh Asinh Atanh Compress ConstantOfShape Cosh Erf EyeLike IsNaN MaxUnpool NonZero OneHot Scatter
            Shrink Sign Sinh TfIdfVectorizer Where
        """,
        10: """
            ConvInteger DequantizeLinear IsInf MatMulInteger Mod NonMaxSuppression QLinearConv QLinearMatMul
            QuantizeLinear Resize ReverseSequence RoiAlign StringNormalizer
        """,
        11: """
            BitShift ConcatFromSequence CumSum Det DynamicQuantizeLinear GatherElements GatherND Range Round
            ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
            SequenceLength SplitToSequence Unique
        """,
        12: "Celu Einsum GreaterOrEqual LessOrEqual NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        14: "HardSwish Trilu",
        15: "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement",
        16: "GridSample",
        17: "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT SequenceMap",
        18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish",
        19: "DeformConv",
        20: "AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit",
        23: "Attention RMSNormalization RotaryEmbedding",
        24: "Swish TensorScatter",
        26: "BitCast CumProd",
        27: "CausalConvWithState LinearAttention",
        28: "SwiGLU",
    },
    "ai.onnx.ml": {
        1: """
            ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer FeatureVectorizer Imputer
            LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler
            TreeEnsembleClassifier TreeEnsembleRegressor ZipMap
        """,
        5: "TreeEnsemble",
    },
}
# Deprecated operators that runtimes refuse from this version of the default domain on.
ENDED = {
    **dict.fromkeys(("Affine", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler"), 10),
    **dict.fromkeys(("ParametricSoftplus", "Scale", "ScaledTanh", "Upsample"), 10),
    "Scatter": 11,
}


@cache
def since(domain: str) -> dict[str, int]:
    """Operator → first version of a domain of NEWEST."""
    return {name: version for version, names in _SINCE[domain].items() for name in names.split()}


def fault(domain: str, operator: str, version: int) -> str:
    """Why version `version` of a domain has no such operator; empty where it has, or where that is not known."""
    if domain not in NEWEST or not 0 < version <= NEWEST[domain] or operator.endswith("_TRT"):
        return ""  # TensorRT finds its plugins in the default domain
    first = since(domain).get(operator)
    if first is None:
        return "no version has it"
    if version < first:
        return f"it comes with version {first}"
    if not domain and version >= ENDED.get(operator, version + 1):
        return f"it ended with version {ENDED[operator]}"
    return ""
