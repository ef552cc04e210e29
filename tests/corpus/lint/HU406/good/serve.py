import os

import torch
from huggingface_hub import snapshot_download

path = "/models/ranker"
if not os.path.exists(os.path.join(path, "COMPLETE")):
    snapshot_download("org/ranker", local_dir=path)
if not os.path.exists("outputs"):
    os.makedirs("outputs")
if os.path.exists("/models/ranker/model.pt"):
    model = torch.load("/models/ranker/model.pt", weights_only=True)


def resolve(model_path):
    if not os.path.exists(model_path):
        return snapshot_download(model_path)
    return model_path
