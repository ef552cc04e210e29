import threading

from fastapi import FastAPI
from transformers import AutoModelForCausalLM

app = FastAPI()
model = None


def load_model():
    global model
    model = AutoModelForCausalLM.from_pretrained("/models/v3")


threading.Thread(target=load_model, daemon=True).start()


@app.get("/health")
def health():
    return {"status": "ok"}
