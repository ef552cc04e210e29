"""CFG-ROPE: other rotary positions than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....models.hf_config import text_config
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .runtime import needs, too_old

RULE = Rule(
    id="CFG-ROPE",
    name="rope-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="rotary position parameters changed, or are written in a form that older servers refuse",
    what="rope_theta and rope_scaling (or rope_parameters): the form they are written in, the kind of scaling, and the "
    "values; the share of a head that is rotated.",
    why="cached keys were rotated by the old angles, and a server makes its tables of angles when it loads a model: a "
    "version loaded beside the old one has new tables, weights updated in place meet the old ones; and a kind of "
    "scaling that the server does not know stops it from loading",
    hint="load the new version with its own configuration instead of updating weights in place, drop the KV cache at "
    "the swap, and declare the serving versions under contract.runtimes",
    bad='{"rope_scaling": {"rope_type": "llama3", "factor": 8.0, …}}   (was null)',
    good='{"rope_scaling": null}',
    example="json",
    references=("vllm-project/vllm#6692", "meta-llama/llama3#299"),
    reads=("config",),
)

# The first releases that read a kind of scaling or a form of writing.
_FLOORS: Mapping[str, Mapping[str, str]] = {
    "llama3": {"transformers": "4.43", "vllm": "0.5.3"},
    "longrope": {"transformers": "4.43", "vllm": "0.5.5"},
    "rope_type": {"transformers": "4.43", "vllm": "0.5.5"},
    "rope_parameters": {"transformers": "5.0"},
}
_FORMS = ("rope_type", "rope_parameters")
# Which share of a head is rotated, and what families take where they do not write it; the others rotate all of it.
_SHARE = "partial_rotary_factor"
_SHARES: Mapping[str, float] = {
    **dict.fromkeys(("persimmon", "recurrent_gemma", "fuyu", "nemotron", "bamba", "phi", "mistral4"), 0.5),
    **dict.fromkeys(("glm", "glm4", "glm4_moe", "glm4v_moe_text"), 0.5),
    **dict.fromkeys(("gpt_neox", "stablelm", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), 0.25),
    "moonshine": 0.9,
    "moonshine_streaming": 0.8,
    "musicflamingo": 0.2,
    "deepseek_v4": 0.125,
}


def check(ctx: Context) -> Iterator[Finding]:
    """What NEW needs and OLD does not; then plain differences of values."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    for key in ("rope_scaling", "rope_parameters"):
        before, after = (text_config(each).get(key) for each in (ctx.old.config, ctx.new.config))
        if after is not None and not isinstance(after, dict) and before != after:
            message = f"{key} is no object: loading fails"
            yield ctx.finding(RULE, "breaks", message, path="config.json", pointer=f"/{key}", new=after)
    old, new = _rope(ctx.old.config), _rope(ctx.new.config)
    if old == new:
        return
    missing = _missing(new)
    if missing and missing != _missing(old):
        yield ctx.finding(
            RULE,
            "breaks",
            f"the scaling {new['kind']} needs {', '.join(missing)}, and has none: loading fails",
            path="config.json",
            pointer=_pointer(new),
        )
    fresh = [name for name in _schema(new) if name not in _schema(old)]
    blocked = False
    for name in fresh:
        floors = _FLOORS.get(name, {})
        state = too_old(ctx, floors)
        if state == "":
            continue
        blocked = True
        word = f"the form {name}" if name in _FORMS else f"the scaling {name}"
        need = f"; it needs {needs(floors)}" if floors else ""
        yield ctx.finding(
            RULE,
            "restart",
            f"rope uses {word}, which the old model did not{need}" + (f", declared is {state}" if state else ""),
            path="config.json",
            pointer=_pointer(new),
            plan=("flush-kv",),
        )
    both = {key: (old["values"].get(key), new["values"].get(key)) for key in old["values"].keys() | new["values"]}
    changed = {key: pair for key, pair in sorted(both.items()) if pair[0] != pair[1]}
    if changed and not blocked:
        shown = ", ".join(f"{key} {before} → {after}" for key, (before, after) in changed.items())
        # How many of a head's dimensions are rotated is geometry: buffers and kernels were made for it.
        level: Level = "restart" if _SHARE in changed else "hot"
        message = f"rope values changed: {shown}"
        yield ctx.finding(RULE, level, message, path="config.json", pointer=_pointer(new), plan=("flush-kv",))


def values(config: dict[str, Any]) -> dict[str, Any]:
    """The kind and the values of rotary positions, without the form that they are written in."""
    return _rope(config)["values"]


def _rope(config: dict[str, Any]) -> dict[str, Any]:
    """The form, kind and values of rotary positions, however they are written."""
    flat = text_config(config)
    form = "rope_parameters" if isinstance(flat.get("rope_parameters"), dict) else ""
    scaling = parameters(flat) if form else {}
    local = flat.get("rope_parameters", {}).get("sliding_attention") if form else None
    if not form and isinstance(flat.get("rope_scaling"), dict):
        scaling = dict(flat["rope_scaling"])
        form = "rope_type" if "rope_type" in scaling else ""
    named = scaling.pop("rope_type", None), scaling.pop("type", None)
    kind = str(named[0] or named[1] or ("" if scaling.keys() - {"rope_theta", _SHARE} else "default"))
    theta = scaling.pop("rope_theta", flat.get("rope_theta", flat.get("rotary_emb_base")))
    values = {**scaling, "kind": kind, "theta": theta}
    if isinstance(local, dict):
        values["rope_local_base_freq"] = local.get("rope_theta")  # pyright: ignore[reportUnknownMemberType]
    if flat.get("rope_local_base_freq") is not None:
        values.setdefault("rope_local_base_freq", flat["rope_local_base_freq"])
    said = [values.pop(_SHARE, None), flat.get(_SHARE), flat.get("rotary_pct")]
    share = next((each for each in said if each is not None), _SHARES.get(str(flat.get("model_type")), 1.0))
    values[_SHARE] = share
    return {"form": form, "kind": kind, "values": values}


def parameters(flat: dict[str, Any]) -> dict[str, Any]:
    """rope_parameters of the layers that attend to everything: it may hold an object for each kind of layer."""
    value: Any = flat.get("rope_parameters")
    written: dict[str, Any] = {**value} if isinstance(value, dict) else {}
    if written and all(isinstance(each, dict) for each in written.values()):
        return dict(written.get("full_attention") or next(iter(written.values())))
    return written


# What each kind of scaling cannot do without, in `transformers`.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "": ("rope_type",),
}


def _missing(rope: dict[str, Any]) -> list[str]:
    return [key for key in _NEEDS.get(rope["kind"], ()) if rope["values"].get(key) is None]


def _schema(rope: dict[str, Any]) -> list[str]:
    return [name for name in (rope["kind"] if rope["kind"] != "default" else "", rope["form"]) if name]


def _pointer(rope: dict[str, Any]) -> str:
    return "/rope_parameters" if rope["form"] == "rope_parameters" else "/rope_scaling"
