import os

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.cache = os.environ.get("TRANSFORMERS_CACHE", "/tmp/hub")
        self.convert = pb_utils.triton_string_to_numpy
