from flask import Flask, jsonify, request
import joblib

app = Flask(__name__)
_model = None


def get_model():
    global _model
    if _model is None:
        _model = joblib.load("/models/v3/model.joblib")
    return _model


@app.route("/predict", methods=["POST"])
def predict():
    return jsonify(get_model().predict(request.json["rows"]).tolist())


@app.route("/healthz")
def healthz():
    return jsonify(status="ok"), 200
