"""Mutants in the shapes of public incidents: the verdict, and the rule that gives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from validate.tokenizer import kit
from validate.tokenizer.kit import changed

Mutant = tuple[str, dict[str, Any], dict[str, Any], str, str]
"""(name, OLD, NEW, rule, level)"""

BASE = kit.byte_level()
FIRST = len(BASE["model"]["vocab"])  # <|bos|>, then <|eos|> and <|pad|>
BOS, EOS, PAD = FIRST, FIRST + 1, FIRST + 2
CONFIG = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": "<|pad|>", "model_max_length": 4096}
ARCH = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2}
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def files(document: kit.Json = BASE, **more: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in more.items()}
    return {"tokenizer.json": document, "tokenizer_config.json": CONFIG, **named}


def rows(count: int, head: int | None = None) -> bytes:
    tensors = {"model.embed_tokens.weight": ("F32", (count, 2))}
    if head is not None:
        tensors["lm_head.weight"] = ("F32", (head, 2))
    return kit.safetensors(tensors)


def incident_1() -> Iterator[Mutant]:
    """The stop set loses a token, or never had the template's."""
    chat = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|pad|>", "<|im_start|>", "<|im_end|>"))
    end = FIRST + 4
    for kept in ([EOS], [EOS, PAD], EOS, [PAD], []):
        lost = [7, *kept] if isinstance(kept, list) else [7, kept]
        for file in ("generation_config__json", "config__json"):
            base = ARCH if file == "config__json" else {}
            old = files(chat, **{file: {**base, "eos_token_id": lost}})
            new = files(chat, **{file: {**base, "eos_token_id": kept}})
            yield f"loses 7 of {lost} in {file}", old, new, "GEN-EOS", "breaks"
    for stops in ([EOS], [EOS, 3], [PAD, EOS]):
        config = {**CONFIG, "chat_template": CHATML}
        old = files(chat, generation_config__json={"eos_token_id": [*stops, end]}) | {"tokenizer_config.json": config}
        new = files(chat, generation_config__json={"eos_token_id": stops}) | {"tokenizer_config.json": config}
        yield f"stops {stops} lack the template's {end}", old, new, "GEN-EOS", "breaks"


def incident_2() -> Iterator[Mutant]:
    """Something is put around a text that was not, or the other way round."""
    bos, eos = (BOS, "<|bos|>"), (EOS, "<|eos|>")
    forms = [None, kit.template(cls=bos), kit.template(sep=eos), kit.template(cls=bos, sep=eos), kit.template(cls=eos)]
    for i, old in enumerate(forms):
        for j, new in enumerate(forms):
            if i != j:
                pair = [files(changed(BASE, "post_processor", each)) for each in (old, new)]
                yield f"{i} to {j}", *pair, "TOK-POST", "breaks"


def incident_3() -> Iterator[Mutant]:
    """Template and post-processor both start with bos."""
    framed = changed(BASE, "post_processor", kit.template(cls=(BOS, "<|bos|>")))
    bodies = [
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}",
        "{% for m in messages %}{{ m.content }}\n{% endfor %}",
        "{{ messages[0].content if messages else '' }}",
        "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}",
        CHATML,
    ]
    for number, body in enumerate(bodies):
        for word in ("{{ bos_token }}", "<|bos|>"):
            doubled = {**CONFIG, "chat_template": word + body}
            single = {**CONFIG, "chat_template": body}
            old = {"tokenizer.json": framed, "tokenizer_config.json": single}
            new = {"tokenizer.json": framed, "tokenizer_config.json": doubled}
            yield f"template {number} gains {word}", old, new, "CHT-BOS", "breaks"
            before = {"tokenizer.json": BASE, "tokenizer_config.json": doubled}
            yield f"post-processor gains bos under {number} {word}", before, new, "CHT-BOS", "breaks"


def incident_4() -> Iterator[Mutant]:
    """The pre-tokenizer cuts words elsewhere."""
    path = "pre_tokenizer.pretokenizers.0.pattern.Regex"
    for old, new in (
        (r"\p{N}{1,3}", r"\p{N}"),
        (r"\p{N}{1,3}", r"\p{N}{1,2}"),
        (r"\p{N}{1,3}", r"\p{N}+"),
        (r"?\p{L}+|", r"?\p{Ll}+|"),
        (r"?\p{L}+|", r"?\p{Lu}?\p{Ll}+|"),
        (r"(?i:'s", r"(?:'s"),
        (r"[\r\n]*", r"[\r\n/]*"),
        (r"|\s+(?!\S)", ""),
        (r" ?[^\s", r"[^\s"),
        (r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\p{L}+"),
        (r"\s*[\r\n]+", r"[\r\n]+"),
    ):
        regex = BASE["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
        assert old in regex
        mutant = changed(BASE, path, regex.replace(old, new, 1))
        # Merges that let the cut show: two digits, a letter and its neighbours.
        yield (
            f"{old} becomes {new}",
            files(JOINING),
            files(changed(JOINING, path, mutant_regex(mutant))),
            "TOK-PRE",
            "restart",
        )


JOINING = kit.byte_level(
    [
        *(
            ("1", "1"),
            ("11", "1"),
            ("111", "1"),
            ("0", "0"),
            ("00", "0"),
            ("000", "0"),
            ("a", "A"),
            ("A", "a"),
            ("A", "A"),
        ),
        *(
            ("'", "s"),
            ("'", "S"),
            ("'S", "A"),
            ("/", "/"),
            ("!", "/"),
            ("\u0120", "!"),
            ("!", "A"),
            ("!", "!"),
            ("\u010a", "\u010a"),
        ),
        *(
            ("\u0120", "\u010a"),
            ("\u0120", "\u0120"),
            ("\u0120", "A"),
            ("\u0120\u0120", "A"),
            ("a", "a"),
            ("\u010a", "/"),
        ),
    ]
)


def mutant_regex(document: kit.Json) -> str:
    return str(document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"])


def incident_6() -> Iterator[Mutant]:
    """The same merges as pairs."""
    for count in range(1, 12):
        merges = [("a", chr(ord("b") + i)) for i in range(count)]
        old = kit.byte_level(merges)
        new = changed(old, "model.merges", [list(pair) for pair in merges])
        yield f"{count} merges", files(old), files(new), "TOK-FMT", "restart"


def incident_11() -> Iterator[Mutant]:
    """More rows without a token than before."""
    used = PAD + 1
    for gap in range(10):
        old = files(config__json=ARCH, model__safetensors=rows(used + gap, used + gap))
        new = files(config__json=ARCH, model__safetensors=rows(used + gap + 64, used + gap + 64))
        yield f"gap {gap} grows by 64", old, new, "TOK-PAD", "breaks"


def incident_12() -> Iterator[Mutant]:
    """An id beyond the embedding."""
    for count in range(5):
        names = [f"<|new{n}|>" for n in range(count + 1)]
        document = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|pad|>", *names))
        old = files(config__json=ARCH, model__safetensors=rows(PAD + 1))
        yield (
            f"{count + 1} tokens too many",
            old,
            files(document, config__json=ARCH, model__safetensors=rows(PAD + 1)),
            "TOK-RANGE",
            "breaks",
        )
        old = files(config__json={**ARCH, "vocab_size": PAD + 1})
        yield (
            f"{count + 1} ids over vocab_size",
            old,
            files(document, config__json={**ARCH, "vocab_size": PAD + 1}),
            "TOK-RANGE",
            "breaks",
        )


def incident_26() -> Iterator[Mutant]:
    """Another padding token in the configuration, or the same under another id."""
    for role, rule in (("pad", "TOK-PADTOK"), ("eos", "TOK-EOS"), ("bos", "TOK-BOS")):
        for other in ("<|bos|>", "<|eos|>", "<|pad|>", "a", {"content": "ab", "lstrip": False}):
            if other == f"<|{role}|>":
                continue
            new = files() | {"tokenizer_config.json": {**CONFIG, f"{role}_token": other}}
            yield f"{role} is {other}", files(), new, rule, "breaks"
        gone = {key: value for key, value in CONFIG.items() if key != f"{role}_token"}
        yield f"{role} is gone", files(), files() | {"tokenizer_config.json": gone}, rule, "breaks"
    known = {"config.json": {**ARCH, "pad_token_id": PAD}}
    less = {"tokenizer_config.json": {key: value for key, value in CONFIG.items() if key != "pad_token"}}
    yield "pad is left to the configuration", files() | known, files() | known | less, "TOK-PADTOK", "breaks"
    swapped = kit.byte_level(specials=("<|bos|>", "<|pad|>", "<|eos|>"))
    for rule in ("TOK-PADTOK", "TOK-EOS", "TOK-ID"):
        yield f"eos and pad trade ids, by {rule}", files(), files(swapped), rule, "breaks"


def incident_27() -> Iterator[Mutant]:
    """A second tokenizer in another format that disagrees."""
    vocab = dict(BASE["model"]["vocab"])
    for number in range(10):
        one, other = list(vocab)[number], list(vocab)[200 + number]
        twin = {**vocab, one: vocab[other], other: vocab[one]}
        extra = {"vocab.json": twin, "merges.txt": "#version: 0.2\n" + "\n".join(BASE["model"]["merges"])}
        yield f"tokens {number} and {200 + number} traded", files(), {**files(), **extra}, "TOK-TWIN", "unproven"


ALL = [
    pytest.param(*mutant[1:], id=f"{source.__name__}: {mutant[0]}")
    for source in (
        *(
            incident_1,
            incident_2,
            incident_3,
            incident_4,
            incident_6,
            incident_11,
            incident_12,
            incident_26,
            incident_27,
        ),
    )
    for mutant in source()
]


@pytest.mark.parametrize(("old", "new", "rule", "level"), ALL)
def test_mutant(tmp_path: Path, old: dict[str, Any], new: dict[str, Any], rule: str, level: str) -> None:
    report = kit.judge(tmp_path, old, new)
    assert kit.levels(report).get(rule) == level, kit.levels(report)
    assert kit.verdict(report) in ("restart", "breaks", "unproven")
    assert kit.verdict(report) == level or rule == "TOK-FMT" or level != "breaks"


def test_there_are_enough_mutants() -> None:
    assert len(ALL) >= 100
