# A training script answers no requests.
import torch

checkpoint = torch.load("last.pt")
