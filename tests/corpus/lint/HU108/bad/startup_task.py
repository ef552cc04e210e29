import asyncio

from fastapi import FastAPI
from sentence_transformers import SentenceTransformer

app = FastAPI()


async def warm():
    app.state.encoder = SentenceTransformer("/models/v3")


@app.on_event("startup")
async def startup():
    asyncio.create_task(warm())


@app.get("/ready")
async def ready():
    return "ready"
