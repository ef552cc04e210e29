import threading

from fastapi import FastAPI, HTTPException
from transformers import AutoModelForCausalLM

app = FastAPI()
model = None


def load_model():
    global model
    model = AutoModelForCausalLM.from_pretrained("/models/v3")


threading.Thread(target=load_model).start()


@app.get("/health")
def health():
    if model is None:
        raise HTTPException(503)
    return {"status": "ok"}


@app.get("/livez")
def livez():
    return {"status": "ok"}
