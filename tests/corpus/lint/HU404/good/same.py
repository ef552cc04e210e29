import os
import tempfile

import torch


def publish(model):
    handle, part = tempfile.mkstemp(dir="/mnt/models")
    torch.save(model.state_dict(), part)
    os.replace(part, "/mnt/models/model.pt")


def rotate(path):
    os.rename("/tmp/a.log", "/var/log/a.log")
    os.replace(path + ".tmp", path)
