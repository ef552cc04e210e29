import os

import torch
import triton_python_backend_utils as pb_utils

os.environ["TRANSFORMERS_CACHE"] = "/models/falcon/hub"


class TritonPythonModel:
    def initialize(self, args):
        torch.backends.cudnn.benchmark = True
        self.convert = pb_utils.triton_string_to_numpy
