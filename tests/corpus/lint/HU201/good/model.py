import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Instance(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._ddp_params_and_buffers_to_ignore = ["cache"]


def wrap(one, two):
    DDP._set_params_and_buffers_to_ignore_for_model(one, ["cache"])
    DDP._set_params_and_buffers_to_ignore_for_model(two, ["cache"])
