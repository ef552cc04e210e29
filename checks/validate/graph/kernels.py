"""Standard operators that ONNX Runtime has for CPUs in single precision only.

A standard lets them work on doubles, and so does the checker of ONNX; the load fails with 'Could not find an
implementation'. Half precision is another matter: the runtime computes it in single. The list holds what release 1.32
refuses in every version of the operator; tests/validate loads each.
"""

from __future__ import annotations

DOUBLE = "tensor(double)"
_STANDARD = """
    Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cosh Det Elu Erf Gelu GlobalAveragePool
    GlobalLpPool GlobalMaxPool HardSigmoid HardSwish Hardmax InstanceNormalization LRN LpPool MaxRoiPool Mean
    NonZero RNN Selu Sinh Softplus Softsign Tan ThresholdedRelu
"""
SINGLE_ONLY = {
    "": frozenset(_STANDARD.split()),
    "ai.onnx.ml": frozenset({"Binarizer", "Imputer", "LinearRegressor"}),
}
