import threading

import joblib
from flask import Flask, jsonify

app = Flask(__name__)
model = None


def load_models():
    global model
    model = joblib.load("/models/v3/model.joblib")


threading.Thread(target=load_models).start()


@app.route("/health")
def health():
    if model is None:
        return jsonify(status="loading"), 503
    return jsonify(status="ok")
