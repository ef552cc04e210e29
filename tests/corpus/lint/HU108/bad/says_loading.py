import threading

import joblib
from fastapi import FastAPI

app = FastAPI()
model = None


def load_models():
    global model
    model = joblib.load("/models/v3/model.joblib")


threading.Thread(target=load_models).start()


@app.get("/health")
def health():
    return {"status": "loading" if model is None else "ready"}
