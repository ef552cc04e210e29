import torch
from flask import Flask
from safetensors.torch import load_file

app = Flask(__name__)
state = torch.load("/models/current.pt", weights_only=True)
weights = load_file("/models/current.safetensors")
