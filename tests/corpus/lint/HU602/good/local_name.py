from fastapi import FastAPI
from transformers import AutoModel

app = FastAPI()
NAME = "/models/default"


def load(name, small):
    chosen = "acme/base"
    if small:
        chosen = "/models/small"
    return AutoModel.from_pretrained(chosen), AutoModel.from_pretrained(name)
