from contextlib import asynccontextmanager

from fastapi import FastAPI
from transformers import AutoModel, AutoTokenizer


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.model = AutoModel.from_pretrained("/models/ranker")
    app.state.tokenizer = AutoTokenizer.from_pretrained("/models/ranker")
    yield


app = FastAPI(lifespan=lifespan)


def train(epochs):
    global model
    model = AutoModel.from_pretrained("/models/ranker")
    model = model.half()
