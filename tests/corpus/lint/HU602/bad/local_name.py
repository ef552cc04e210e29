from ray import serve
from transformers import AutoModelForSeq2SeqLM


@serve.deployment
class Summary:
    def __init__(self):
        name = "acme/summary-large"
        self.model = AutoModelForSeq2SeqLM.from_pretrained(name)
