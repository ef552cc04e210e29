import joblib
from fastapi import FastAPI, Request

app = FastAPI()


@app.put("/model")
async def switch(request: Request, version: str):
    request.app.state.model = joblib.load(f"/models/{version}/model.joblib")
    request.app.state.scaler = joblib.load(f"/models/{version}/scaler.joblib")
