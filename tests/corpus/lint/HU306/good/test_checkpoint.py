import torch


def load_in_memory(model, path):
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)
    assert model(torch.zeros(1, 8)).shape == (1, 2)
