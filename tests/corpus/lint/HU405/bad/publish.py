import os
import shutil

import torch

MODEL_REPO = os.environ["MODEL_REPOSITORY"]


def publish(model, tokenizer):
    target = os.path.join(MODEL_REPO, "ranker")
    torch.save(model.state_dict(), os.path.join(target, "model.pt"))
    tokenizer.save_pretrained(target)


def refresh(source):
    shutil.rmtree("/mnt/models/ranker")
    shutil.copytree(source, "/mnt/models/ranker")
