"""Convolutions, pools and what else moves a window or a factor over spatial axes."""

from __future__ import annotations

from collections.abc import Callable

from .elementwise import show_shape
from .engine import UNKNOWN, Call, Fact, Step
from .samples import follows
from .terms import Shape, Term, fixed, named, plus, show, times, whole


def _window(call: Call, before: Shape, kernel: list[Term] | None, channels: Term) -> list[Fact]:
    """Sizes after a window has moved over the spatial axes; `kernel` may be taken from the weight."""
    spatial = len(before) - 2
    given = call.integers("kernel_shape")
    window = [whole(k) for k in given] if given else kernel
    strides = call.integers("strides") or [1] * spatial
    spread = call.integers("dilations") or [1] * spatial
    pads = call.integers("pads") or [0] * 2 * spatial
    auto = call.text("auto_pad") or "NOTSET"
    rounds = call.integer("ceil_mode", 0)
    sized = window is not None and len(window) == len(strides) == len(spread) == spatial and len(pads) == 2 * spatial
    result = [before[0], channels]
    for i in range(spatial):
        size, k = before[i + 2], None if window is None or not sized else fixed(window[i])
        if k is None or k < 1 or min(*strides, *spread) < 1 or rounds:
            result.append(call.fresh(i + 2))
            continue
        reach = (k - 1) * spread[i] + 1
        result.append(_moved(size, reach, strides[i], pads[i] + pads[i + spatial], auto))
    return [Fact(tuple(result))]


def _moved(size: Term, reach: int, stride: int, pads: int, auto: str) -> Term:
    length = fixed(size)
    if auto.startswith("SAME"):
        if stride == 1:
            return size
        return (
            whole(-(-length // stride))
            if length is not None
            else _formula(f"ceil({show(size)}/{stride})", size, lambda n: -(-n // stride))
        )
    more = pads if auto == "NOTSET" else 0
    if length is not None:
        return whole((length + more - reach) // stride + 1) if length + more >= reach else named(f"none({show(size)})")
    if stride == 1 and more == reach - 1:
        return size
    name = f"({show(size)}+{more - reach})/{stride}+1"
    return _formula(name, size, lambda n: (n + more - reach) // stride + 1 if n + more >= reach else None)


def _formula(name: str, size: Term, formula: Callable[[int], int | None]) -> Term:
    return follows(named(name), [size], lambda row: formula(row[0]))


def conv(call: Call) -> list[Fact]:
    """Convolution of [batch, channels, …] with [filters, channels / group, …]."""
    before, weight = call.shape(0), call.shape(3 if call.node.op == "QLinearConv" else 1)
    if before is None or weight is None:
        return [UNKNOWN]
    if len(before) != len(weight) or len(before) < 3:
        told = f"filters {show_shape(before)} with {show_shape(weight)}"
        call.fault(f"{told}, which differ in rank" if len(before) != len(weight) else f"{told}: no spatial axis")
        return [UNKNOWN]
    group = call.integer("group", 1)
    have, want = before[1], fixed(weight[1])
    if want is not None:
        groups = f" in {group} groups" if group != 1 else ""
        call.meet(have, whole(want * group), lambda: f"filters {show_shape(before)} with {show_shape(weight)}{groups}")
    return _window(call, before, list(weight[2:]), weight[0])


def pool(call: Call) -> list[Fact]:
    """Every channel by itself; both outputs of MaxPool have one shape."""
    before = call.shape(0)
    if before is None or len(before) < 3:
        return [UNKNOWN]
    return _window(call, before, None, before[1]) * len(call.node.outputs)


def global_pool(call: Call) -> list[Fact]:
    """One value a channel."""
    before = call.shape(0)
    if before is None or len(before) < 2:
        return [UNKNOWN]
    return [Fact((*before[:2], *([whole(1)] * (len(before) - 2))))]


def spread(call: Call) -> list[Fact]:
    """ConvTranspose, Resize and Upsample: by strides, to sizes or by factors that are constant."""
    before = call.shape(0)
    if before is None:
        return [UNKNOWN]
    if call.node.op != "ConvTranspose":
        sizes = call.numbers(3) if call.opset >= 11 else None
        plain = call.integers("axes") is None and call.text("keep_aspect_ratio_policy") in ("", "stretch")
        if plain and sizes is not None and len(sizes) == len(before):
            return [Fact(tuple(map(whole, sizes)))]
        scales = call.decimals(2 if call.node.op == "Resize" and call.opset >= 11 else 1)
        plain = plain and call.text("coordinate_transformation_mode") != "tf_crop_and_resize"
        if plain and scales is not None and len(scales) == len(before):
            return [Fact(tuple(_scaled(call, i, term, scales[i]) for i, term in enumerate(before)))]
        return [Fact(tuple(call.fresh(i) for i in range(len(before))))]
    weight = call.shape(1)
    if weight is None or len(weight) != len(before) or len(before) < 3:
        return [UNKNOWN]
    filters, group = fixed(weight[1]), call.integer("group", 1)
    channels = call.fresh(1) if filters is None else whole(filters * group)
    return [Fact((before[0], channels, *_grown(call, before, weight)))]


def _scaled(call: Call, axis: int, size: Term, scale: float) -> Term:
    """A size times a factor, rounded down. Factors that no product could round are worked out, others are not."""
    if not 0 < scale <= _PARTS:
        return call.fresh(axis)
    parts = round(scale * _PARTS)
    if parts != scale * _PARTS:
        return call.fresh(axis)
    if parts % _PARTS == 0:
        return times([whole(parts // _PARTS), size])
    length = fixed(size)
    if length is not None:
        return whole(length * parts // _PARTS)
    return _formula(f"({show(size)}*{parts}/{_PARTS})", size, lambda n: n * parts // _PARTS)


_PARTS = 64


def _grown(call: Call, before: Shape, weight: Shape) -> list[Term]:
    """Spatial sizes of ConvTranspose where no other attribute than strides, dilations and paddings decides them."""
    spatial = len(before) - 2
    kernel = call.integers("kernel_shape") or [fixed(term) or 0 for term in weight[2:]]
    lists = [call.integers(name) or [one] * spatial for name, one in (("strides", 1), ("dilations", 1))]
    more, pads = (call.integers("output_padding") or [0] * spatial), (call.integers("pads") or [0] * 2 * spatial)
    sized = all(len(each) == spatial for each in (kernel, *lists, more)) and len(pads) == 2 * spatial
    auto = call.text("auto_pad") or "NOTSET"
    if call.attribute("output_shape") is not None or auto != "NOTSET" or not sized or min(kernel) < 1:
        return [call.fresh(i) for i in range(2, len(before))]
    result: list[Term] = []
    for i, (k, stride, spread) in enumerate(zip(kernel, *lists, strict=True)):
        rest = more[i] + (k - 1) * spread + 1 - pads[i] - pads[i + spatial] - stride
        length = fixed(before[i + 2])
        if length is not None:
            result.append(whole(stride * length + rest))
        else:
            result.append(plus([times([whole(stride), before[i + 2]]), whole(rest)]))
    return result


def stft(call: Call) -> list[Fact]:
    """Frames of a signal [batch, time, …]: [batch, frames, bins, 2]."""
    before, window, step = call.shape(0), call.shape(2), call.numbers(1)
    given = call.numbers(3) if call.given(3) else [fixed(window[0])] if window else None
    reach = given[0] if given and given[0] else None
    if before is None or len(before) < 2 or not reach or not step or step[0] < 1:
        return [UNKNOWN]
    bins = reach // 2 + 1 if call.integer("onesided", 1) else reach
    return [Fact((before[0], _moved(before[1], reach, step[0], 0, "NOTSET"), whole(bins), whole(2)))]


STEPS: dict[tuple[str, str], Step] = {
    ("", "STFT"): stft,
    **dict.fromkeys([("", name) for name in ("Conv", "ConvInteger", "QLinearConv")], conv),
    **dict.fromkeys([("", name) for name in ("MaxPool", "AveragePool", "LpPool")], pool),
    **dict.fromkeys([("", name) for name in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")], global_pool),
    **dict.fromkeys([("", name) for name in ("ConvTranspose", "Resize", "Upsample")], spread),
}
