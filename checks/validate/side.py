"""Side: one model with its facts, each read when first asked for and then kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...models.errors import UnreadableModel
from ...models.tree import ModelTree

if TYPE_CHECKING:
    from ...models.adapter import Adapter
    from ...models.engine import Engine
    from ...models.gguf import GgufModel
    from ...models.onnx import OnnxModel
    from ...models.onnx_flow import Flow
    from ...models.tokenizer import Tokenizer
    from ...models.weights import WeightTable
    from .serving.triton import TritonModel

Fact = TypeVar("Fact")


class Side:
    """One of the two models. A fact that cannot be read raises UnreadableModel every time it is asked for.

    The reader of a format that the model does not have is not even imported: that is what a run mostly costs.

    `name` is how the user called the model. Rules may simply read the facts they need: the engine records an
    unreadable one once and never lets it pass.
    """

    def __init__(self, tree: ModelTree, name: str) -> None:
        self.tree = tree
        self.name = name
        self._facts: dict[str, Any] = {}

    def show(self, file: str) -> str:
        """A file of the model as messages name it."""
        return f"{self.name.rstrip('/')}/{file}" if file and not self.tree.single else self.name

    def _once(self, key: str, read: Callable[[], Fact]) -> Fact:
        if key not in self._facts:
            try:
                self._facts[key] = read()
            except UnreadableModel as error:
                self._facts[key] = error
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                self._facts[key] = UnreadableModel(error.filename or self.name, reason)
        value = self._facts[key]
        if isinstance(value, UnreadableModel):
            raise value
        return cast("Fact", value)

    def json(self, name: str) -> dict[str, Any] | None:
        """A JSON object of the model's top folder by file name, None where the file is absent."""
        file = self.tree.files.get(name)
        if file is None:
            return None

        def read() -> dict[str, Any]:
            from ...models.hf_config import read_json_config

            return read_json_config(file.path)

        return self._once(name, read)

    @property
    def onnx(self) -> dict[str, OnnxModel]:
        """ONNX files by name."""
        if "onnx" not in self.tree.kinds:
            return {}

        def read() -> dict[str, OnnxModel]:
            from ...models.onnx import read_onnx

            return {file.name: read_onnx(file) for file in self.tree.of("onnx")}

        return self._once("onnx", read)

    def onnx_flow(self, file: str) -> Flow:
        """An ONNX file as one flow of steps."""

        def read() -> Flow:
            from ...models.onnx_flow import flow

            return flow(self.onnx[file])

        return self._once(f"onnx_flow:{file}", read)

    @property
    def weight_sets(self) -> dict[str, WeightTable]:
        """Every set of safetensors files that belong together, by stem."""
        if not self.tree.kinds & {"safetensors", "index"}:
            return {}

        def read() -> dict[str, WeightTable]:
            from ...models.weights import read_weights

            return read_weights(self.tree)

        return self._once("weight_sets", read)

    @property
    def weights(self) -> WeightTable | None:
        """The set that a server loads, merged over its shards; None where there is none or no telling which."""
        if not self.weight_sets:
            return None
        from ...models.weights import main_table

        return main_table(self.weight_sets)

    @property
    def gguf(self) -> dict[str, GgufModel]:
        """GGUF files by name."""
        if "gguf" not in self.tree.kinds:
            return {}

        def read() -> dict[str, GgufModel]:
            from ...models.gguf import read_gguf

            return {file.name: read_gguf(file) for file in self.tree.of("gguf")}

        return self._once("gguf", read)

    @property
    def pickles(self) -> bool:
        """Whether there are pickles; they are whole, but nobody reads further."""

        def read() -> bool:
            from ...models.pickles import check_pickle
            from .files.companions import inert

            found = [file for file in self.tree.of("pickle") if not file.partial and not inert(file.name)]
            for file in found:
                check_pickle(file)
            return bool(found)

        return self._once("pickles", read)

    @property
    def tensor_digests(self) -> dict[str, dict[str, str]]:
        """file → tensor → digest that the signature file carries."""
        if "signature" not in self.tree.kinds:
            return {}

        def read() -> dict[str, dict[str, str]]:
            from ...models.signed import read_tensor_digests

            return read_tensor_digests(self.tree)

        return self._once("tensor_digests", read)

    @property
    def adapters(self) -> dict[str, Adapter]:
        """PEFT adapters by folder; '' is one whose files lie at the top."""

        def read() -> dict[str, Adapter]:
            from ...models.adapter import read_adapters

            return read_adapters(self.tree)

        return self._once("adapters", read)

    @property
    def engines(self) -> dict[str, Engine]:
        """TensorRT-LLM engines and checkpoints by the name of their config.json."""

        def read() -> dict[str, Engine]:
            from ...models.engine import read_engines

            return read_engines(self.tree)

        return self._once("engines", read)

    @property
    def triton(self) -> dict[str, TritonModel]:
        """Every config.pbtxt by name."""
        if "triton" not in self.tree.kinds:
            return {}

        def read() -> dict[str, TritonModel]:
            from .serving.triton import read_triton

            return read_triton(self)

        return self._once("triton", read)

    @property
    def config(self) -> dict[str, Any] | None:
        """config.json of a Hugging Face model; TensorRT-LLM writes another kind of file under the same name."""
        found = self.json("config.json")
        if found is not None:
            from ...models.engine import is_engine_config

            return None if is_engine_config(found) else found
        return None

    @property
    def generation_config(self) -> dict[str, Any] | None:
        """generation_config.json."""
        return self.json("generation_config.json")

    @property
    def tokenizer_config(self) -> dict[str, Any] | None:
        """tokenizer_config.json."""
        return self.json("tokenizer_config.json")

    @property
    def special_tokens_map(self) -> dict[str, Any] | None:
        """special_tokens_map.json."""
        return self.json("special_tokens_map.json")

    @property
    def chat_templates(self) -> dict[str, tuple[str, str]]:
        """Chat templates as name → (file, Jinja source); the unnamed one is `default`.

        Files of their own win over the keys of configurations, as in transformers.
        """

        def read() -> dict[str, tuple[str, str]]:
            from ...models.hf_config import read_chat_templates

            return read_chat_templates(self.tree)

        return self._once("chat_templates", read)

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's tokenizer in canonical form, None where it has none."""

        def read() -> Tokenizer | None:
            from ...models.tokenizer import read_tokenizer

            return read_tokenizer(self.tree)

        return self._once("tokenizer", read)

    def share_tokenizer(self, other: Side, file: str) -> None:
        """Take the other model's tokenizer, which lies in `file`, for this one's: the files hold the same bytes."""
        if {each.name for each in self.tree.of("tokenizer")} != {each.name for each in other.tree.of("tokenizer")}:
            return  # another file may serve here
        try:
            found = other.tokenizer
        except UnreadableModel:
            return
        if found is not None and found.path == str(other.tree.files[file].path):
            self._facts["tokenizer"] = found

    def problems(self) -> Iterator[UnreadableModel]:
        """Every fact of the model that cannot be read."""
        for key, kinds in _READS.items():
            if self.tree.kinds.isdisjoint(kinds):
                continue
            try:
                getattr(self, key)
            except UnreadableModel as error:
                yield error


# Facts that are read even where no rule asks for them, and the kinds of file each comes from.
_READS: dict[str, frozenset[str]] = {
    "config": frozenset({"config"}),
    "generation_config": frozenset({"generation-config"}),
    "tokenizer_config": frozenset({"tokenizer-config"}),
    "special_tokens_map": frozenset({"tokenizer-config"}),
    "chat_templates": frozenset({"chat-template", "tokenizer-config", "gguf"}),
    "tokenizer": frozenset({"tokenizer", "gguf"}),
    "pickles": frozenset({"pickle"}),
}
