import pickle
from pathlib import Path

from fastapi import FastAPI

app = FastAPI()


def load(path: Path):
    data = path.read_bytes()
    return pickle.loads(data)
