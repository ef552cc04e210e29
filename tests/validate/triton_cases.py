"""Configurations of a model of Triton's Python backend, and whether Triton takes them, by what is wrong or right."""

from __future__ import annotations


def config(x: str = "dims: [2]", y: str = "dims: [2]", more: str = "", batch: int = 8) -> str:
    return (
        f'backend: "python"\nmax_batch_size: {batch}\n'
        f'input [{{name: "X", data_type: TYPE_FP32, {x}}}]\noutput [{{name: "Y", data_type: TYPE_FP32, {y}}}]\n'
        f"instance_group [{{kind: KIND_CPU, count: 1}}]\n{more}\n"
    )


def controls(*each: str, more: str = "") -> str:
    listed = ", ".join(f"{{ {one} }}" for one in each)
    return config(more=f"sequence_batching {{ control_input [{listed}] {more} }}")


def control(name: str, kind: str, value: str = "fp32_false_true: [0, 1]") -> str:
    return f'name: "{name}" control [{{ kind: CONTROL_SEQUENCE_{kind} {value} }}]'


def batch(kind: str, target: str, source: str, more: str = "") -> str:
    return config(more=f"batch_{kind} {{ target_name: {target} {source} {more} }}")


def warmup(inputs: str, batch: int = 1) -> str:
    return f'model_warmup [{{ name: "w" batch_size: {batch} inputs {inputs} }}]'


START, END = control("START", "START"), control("END", "END")
INT = "data_type: TYPE_INT32"

REFUSED: dict[str, tuple[str, str]] = {
    "negative_batch": (config(batch=-1), "max_batch_size is negative"),
    "zero_input": (config("dims: [0]"), "input 'X' has a size that is neither"),
    "zero_output": (config(y="dims: [2, -2]"), "output 'Y' has a size that is neither"),
    "reshape_zero": (config("dims: [2] reshape { shape: [2, 0] }"), "input 'X' has a size"),
    "reshape_more": (config("dims: [4, 4] reshape { shape: [4, 5] }"), "as [4, 5], its reshape, than as [4, 4]"),
    "reshape_open": (config("dims: [2, -1] reshape { shape: [-1, 4] }"), "another number of elements"),
    "reshape_closed": (config(y="dims: [4, -1] reshape { shape: [4, 4] }"), "output 'Y' holds another number"),
    "reshape_empty": (config("dims: [1] reshape { }", batch=0), "is reshaped to nothing"),
    "no_source": (batch("input", '"N"', "", INT), "has 0 source_input"),
    "two_sources": (batch("input", '"N"', 'source_input: ["X", "X"]', INT), "has 2 source_input"),
    "unknown_source": (batch("input", '"N"', 'source_input: "Z"', INT), "an input 'Z' that is not there"),
    "batch_type": (batch("input", '"N"', 'source_input: "X"', "data_type: TYPE_INT64"), "neither TYPE_INT32"),
    "unknown_target": (batch("output", '"Z"', 'source_input: "X"'), "an output 'Z' that is not there"),
    "target_twice": (batch("output", '["Y", "Y"]', 'source_input: "X"'), "names an output twice"),
    "control_twice": (controls(START, control("START", "END")), "the control 'START' is given twice"),
    "two_starts": (controls(START, control("BEGIN", "START")), "CONTROL_SEQUENCE_START is given by more than one"),
    "no_value": (controls(control("START", "START", "")), "needs one of int32_false_true"),
    "one_value": (controls(control("START", "START", "bool_false_true: [true]")), "needs two values"),
    "number_with_values": (controls(control("ID", "CORRID")), "is a number, and no switch"),
    "slots": (controls(START, more="direct { minimum_slot_utilization: 1.5 }"), "minimum_slot_utilization"),
    "cached_sequences": (controls(START) + "response_cache { enable: true }", "cannot be cached"),
    "cached_stream": (
        config(more="response_cache { enable: true } model_transaction_policy { decoupled: true }"), "cannot be cached",
    ),
    "preferred_zero": (config(more="dynamic_batching { preferred_batch_size: [0, 4] }"), "is not positive"),
    "default_priority": (config(more="dynamic_batching { priority_levels: 3 }"), "not between 1 and 3"),
    "kept_order": (
        config(more="dynamic_batching { priority_levels: 3 default_priority_level: 1 preserve_ordering: true }"),
        "one priority level only",
    ),
    "cpu_with_gpu": (config(more="instance_group [{ kind: KIND_CPU gpus: [0] }]"), "KIND_CPU names GPUs"),
    "shape_tensor": (config("dims: [2] is_shape_tensor: true"), "which only TensorRT knows"),
    "warmup_lacks": (config(more=warmup('{ key: "Q" value { data_type: TYPE_FP32 dims: [2] zero_data: true } }')),
                     "the warm-up 'w' does not give 'X'"),
    "warmup_open": (config(more=warmup('{ key: "X" value { data_type: TYPE_FP32 dims: [-1] zero_data: true } }')),
                    "leaves a size open"),
    "no_platform": (config().replace('backend: "python"', 'platform: "onnxruntime"'), "no platform 'onnxruntime'"),
    "other_platform": (
        config().replace('"python"', '"onnxruntime" platform: "onnxruntime"'), "is none of the backend",
    ),
    "steps_elsewhere": (config(more='ensemble_scheduling { step [] }'), "of another platform"),
}  # fmt: skip
TAKEN: dict[str, str] = {
    "plain": config(),
    "open": config("dims: [-1]", "dims: [-1]"),
    "reshaped": config("dims: [2, 4] reshape { shape: [8] }", "dims: [1] reshape { }"),
    "reshaped_open": config("dims: [2, 2, -1, 6] reshape { shape: [4, -1, 1, 6] }"),
    "batch_input": batch("input", '"N"', 'source_input: "X"', INT),
    "batch_output": batch("output", '"Y"', 'source_input: "X"'),
    "controls": controls(START, END, control("ID", "CORRID", "data_type: TYPE_UINT64")),
    "oldest": controls(START, more="oldest { max_candidate_sequences: 4 }"),
    "no_controls": config(more="sequence_batching { }"),
    "preferred": config(more="dynamic_batching { preferred_batch_size: [4, 8] preserve_ordering: true }"),
    "priorities": config(more="dynamic_batching { priority_levels: 3 default_priority_level: 2 }"),
    "warmup": config(more=warmup('{ key: "X" value { data_type: TYPE_FP32 dims: [2] zero_data: true } }')),
    "warmup_skipped": config(more=warmup('{ key: "Q" value { data_type: TYPE_FP32 dims: [2] zero_data: true } }', 0)),
    "stream": config(more="model_transaction_policy { decoupled: true }"),
}
