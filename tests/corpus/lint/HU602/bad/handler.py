import triton_python_backend_utils as pb_utils
from transformers import AutoTokenizer

NAME = "acme/" + "model"


class TritonPythonModel:
    def initialize(self, args):
        self.tokenizer = AutoTokenizer.from_pretrained(NAME, revision="main")
        self.convert = pb_utils.triton_string_to_numpy
