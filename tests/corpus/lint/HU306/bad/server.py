import torch


def dropped(model, path):
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)


def logged(model, path):
    result = model.load_state_dict(torch.load(path, weights_only=True), strict=False)
    print("loaded", result)
