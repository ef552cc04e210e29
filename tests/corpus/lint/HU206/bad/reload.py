from fastapi import FastAPI
from transformers import AutoModel, AutoTokenizer

app = FastAPI()
model = AutoModel.from_pretrained("/models/ranker")
tokenizer = AutoTokenizer.from_pretrained("/models/ranker")


@app.post("/reload")
def reload(path: str):
    global model, tokenizer
    model = AutoModel.from_pretrained(path)
    tokenizer = AutoTokenizer.from_pretrained(path)
    return {"ok": True}
