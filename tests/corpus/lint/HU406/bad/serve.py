import os
import time
from pathlib import Path

import torch
from huggingface_hub import snapshot_download

MODEL_DIR = Path("/models/ranker")

if not MODEL_DIR.exists():
    snapshot_download("org/ranker", local_dir=MODEL_DIR)

while not os.path.exists("/models/ranker/model.pt"):
    time.sleep(1)
model = torch.load("/models/ranker/model.pt", weights_only=True)
