import pickle

import joblib
import torch
from flask import Flask

app = Flask(__name__)
model = torch.load("/models/current.pt", weights_only=False)
scaler = joblib.load("/models/scaler.joblib")
with open("/models/labels.pkl", "rb") as stream:
    labels = pickle.load(stream)
