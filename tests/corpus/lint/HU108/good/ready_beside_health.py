import threading

import joblib
from fastapi import FastAPI, Response

app = FastAPI()
model = None


def load_models():
    global model
    model = joblib.load("/models/v3/model.joblib")


threading.Thread(target=load_models).start()


@app.get("/health")
def health():
    return {"status": "alive"}


@app.get("/ready")
def ready(response: Response):
    response.status_code = 200 if model is not None else 503
    return {"ready": model is not None}
