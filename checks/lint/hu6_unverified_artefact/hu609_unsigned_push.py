"""HU609: a pipeline uploads a model and signs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.scripts import ShellText
from ..sources.shell import Command

RULE = Rule(
    id="HU609",
    name="unsigned-push",
    family="HU6",
    severity=Severity.INFO,
    summary="pipeline uploads a model without signing or attesting it",
    what="GitHub and GitLab pipelines with a step that uploads model files (aws s3, gsutil, huggingface-cli upload, "
    "oras push, kit push) and no step that signs or attests anything.",
    why="A consumer then cannot tell this pipeline's model from one that somebody else put in the same place.",
    hint="add interlock sign before the upload, keyless in CI",
    bad="""\
on: {push: {branches: [main]}}
jobs:
  release:
    runs-on: ubuntu-24.04
    steps:
      - run: aws s3 cp model.onnx s3://models/ranker/7/model.onnx
""",
    good="""\
on: {push: {branches: [main]}}
jobs:
  release:
    runs-on: ubuntu-24.04
    steps:
      - run: interlock sign model/ --keyless
      - run: aws s3 cp --recursive model/ s3://models/ranker/7/
""",
    exemptions=("pipelines that call interlock sign, cosign, model_signing, gh attestation or an attest action",),
    reads=("shell",),
    pedantic=True,
)

_SIGNS = re.compile(r"interlock sign|cosign (sign|attest)|model[_-]signing|attest|sigstore|notation sign|gpg .*--sign")
_MODEL = re.compile(
    r"\.(onnx|safetensors|gguf|pt|pth|mar|engine|plan|pkl|joblib|h5|keras)\b|\b(models?|weights|checkpoints?)\b",
    re.IGNORECASE,
)
_UPLOADS = {
    "aws": re.compile(r"\bs3 (cp|sync|mv)\b.*\ss3://"),
    "gsutil": re.compile(r"\b(cp|rsync)\b.*\sgs://"),
    "gcloud": re.compile(r"\bstorage (cp|rsync)\b.*\sgs://"),
    "huggingface-cli": re.compile(r"\bupload(-large-folder)?\b"),
    "hf": re.compile(r"\bupload(-large-folder)?\b"),
    "oras": re.compile(r"\bpush\b"),
    "kit": re.compile(r"\bpush\b"),
    "modctl": re.compile(r"\bpush\b"),
}


def check(shell: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the upload commands of one CI step against the whole pipeline file."""
    if shell.how != "workflow" or _SIGNS.search(shell.file.text):
        return
    for command in shell.commands:
        if _uploads_a_model(command):
            message = f"{command.name} uploads a model that nothing in this pipeline signs"
            yield ctx.finding(RULE, shell.at(command.words[0]), message)


def _uploads_a_model(command: Command) -> bool:
    pattern = _UPLOADS.get(command.name)
    line = " ".join(word.text for word in command.words)
    return pattern is not None and bool(pattern.search(line)) and bool(_MODEL.search(line))
