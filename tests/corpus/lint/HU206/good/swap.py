import threading

import joblib
from flask import Flask

app = Flask(__name__)
lock = threading.Lock()
model = None
scaler = None
hits = 0


def initialize():
    global model, scaler
    model = joblib.load("/models/model.joblib")
    scaler = joblib.load("/models/scaler.joblib")


@app.route("/reload", methods=["POST"])
def reload():
    global model, scaler
    new_model, new_scaler = joblib.load("/models/2/model.joblib"), joblib.load("/models/2/scaler.joblib")
    with lock:
        model = new_model
        scaler = new_scaler
    return "ok"


def get_model():
    global model
    if model is None:
        model = joblib.load("/models/model.joblib")
    return model


@app.route("/predict", methods=["POST"])
def predict():
    global hits
    hits = hits + 1
    return str(get_model().predict([[hits]]))
