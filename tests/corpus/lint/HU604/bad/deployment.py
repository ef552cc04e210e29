from ray import serve
from transformers import AutoTokenizer


@serve.deployment
class Summary:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("/models/live", trust_remote_code=True)
