from fastapi import FastAPI
from transformers import pipeline

app = FastAPI()
classify = pipeline("text-classification", model="/models/v3")


@app.get("/health")
def health():
    return {"status": "ok"}
