import shared
from flask import Flask
from transformers import AutoModel, AutoTokenizer

app = Flask(__name__)


def load(path):
    shared.model = AutoModel.from_pretrained(path)
    shared.tokenizer = AutoTokenizer.from_pretrained(path)


@app.route("/load", methods=["POST"])
def load_route():
    load("/models/next")
    return "ok"
