import torch
from torch.nn.parallel import DistributedDataParallel as DDP

NAMES = ["cache"]


class Body(torch.nn.Module):
    _ddp_params_and_buffers_to_ignore = ["cache"]


class Assigned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        Assigned._ddp_params_and_buffers_to_ignore = []


def wrap(one, two):
    DDP._set_params_and_buffers_to_ignore_for_model(one, NAMES)
    DDP._set_params_and_buffers_to_ignore_for_model(two, NAMES)
