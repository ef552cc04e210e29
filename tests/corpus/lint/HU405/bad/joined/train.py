from pathlib import Path

from safetensors.torch import save_file

WEIGHTS = Path("/srv/weights") / "ranker"


def export(tensors):
    save_file(tensors, WEIGHTS / "model.safetensors")


def raw(data: bytes) -> None:
    with open("/srv/weights/ranker/config.bin", "wb") as out:
        out.write(data)
