import os
import shutil
import tempfile
from pathlib import Path

import torch

REPO = "/models/model_repository"


def publish(model):
    target = os.path.join(REPO, "ranker", "model.pt")
    part = target + ".partial"
    torch.save(model.state_dict(), part)
    os.replace(part, target)


def versioned(model, version):
    torch.save(model.state_dict(), f"{REPO}/ranker/{version}/model.pt")
    torch.save(model.state_dict(), f"{REPO}/ranker/3/model.pt")


def moved(model):
    staging = Path(tempfile.mkdtemp(dir=REPO))
    torch.save(model.state_dict(), staging / "model.pt")
    staging.rename(f"{REPO}/ranker")


def elsewhere(model, out, path):
    torch.save(model.state_dict(), "checkpoints/last.pt")
    torch.save(model.state_dict(), path)
    shutil.copytree("a", out)
    with open("/mnt/models/notes.txt") as notes:
        return notes.read()
