"""Families of operators that stand between trained ones and an output."""

from __future__ import annotations

from .classes import CLASSIFIERS, LOOKUPS, MAPS

ACTIVATIONS = frozenset({"Softmax", "LogSoftmax", "Sigmoid", "HardSigmoid", "Softplus", "Tanh", "Hardmax"})
DECISIONS = frozenset({"Greater", "Less", "Equal", "IsNaN", "Sign", "Binarizer"})
LOGIC = frozenset({"And", "Or", "Xor", "Not"})
BEST = frozenset({"ArgMax", "ArgMin", "NonMaxSuppression"})
ROUNDING = frozenset({"Round", "Floor", "Ceil"})
CURVES = frozenset({"Neg", "Abs", "Log", "Exp", "Sqrt", "Reciprocal", "CumSum"})
BODIES = frozenset({"If", "Loop", "Scan"})
AFFINE = frozenset({"Add", "Sub", "Mul", "Div", "Pow"})
REDUCTIONS = frozenset({"ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2"})
_SEQUENCES = frozenset({"SequenceAt", "SplitToSequence"})

# Operators whose presence right before an output decides what its values mean.
_KINDS = ACTIVATIONS | DECISIONS | LOGIC | BEST | ROUNDING | CURVES
STRONG = _KINDS | {"TopK", "Mod", "Normalizer", "QuantizeLinear", "DynamicQuantizeLinear"}
# Past these, the numbers before them are not what a client sees.
SHIELDS = ACTIVATIONS | DECISIONS | BEST | MAPS | {"Normalizer", "QuantizeLinear"}
# The values of their first input come out, changed each by itself, or a choice of them.
_CHOICES = {"Slice", "Split", "TopK", "Pad", "Resize", "Tile", "Compress", "Trilu", "DepthToSpace", "ZipMap", "NonZero"}
PASSES = ROUNDING | CURVES | _SEQUENCES | _CHOICES | {"ReduceMax", "ReduceMin", "ReduceMean", "OneHot", "Clip", "Not"}
# All their inputs come out.
JOINS = BODIES | LOGIC | {"Concat", "Where", "Mul", "SequenceConstruct", "Max", "Min"}
# The numbers of dimensions before and after are not the same.
RANKED = BEST | REDUCTIONS | _SEQUENCES | LOOKUPS | {"OneHot", "NonZero"}
# What comes out is whole, whatever goes in.
_PICKED = {"NonZero", "Shape", "TopK", "If", "Where"}
WHOLE = BEST | DECISIONS | LOGIC | ROUNDING | LOOKUPS | CLASSIFIERS | MAPS | _PICKED
# A promise about the range, and operators that keep none.
LIMITED = frozenset({"Clip", "Relu"})
LINEAR = frozenset({"Gemm", "MatMul", "Conv", "ConvTranspose", "Add", "BatchNormalization", "LayerNormalization"})
INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})  # of TensorProto.DataType, truth values among them
