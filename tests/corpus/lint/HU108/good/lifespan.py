from contextlib import asynccontextmanager

import onnxruntime
from fastapi import FastAPI

sessions = {}


@asynccontextmanager
async def lifespan(app):
    sessions["ranker"] = onnxruntime.InferenceSession("/models/v3/ranker.onnx")
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/health")
def health():
    return {"status": "ok"}
