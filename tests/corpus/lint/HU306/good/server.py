import torch


def judged(model, path):
    missing, unexpected = model.load_state_dict(torch.load(path, weights_only=True), strict=False)
    assert not missing
    print(unexpected)


def strict(model, path):
    model.load_state_dict(torch.load(path, weights_only=True))


def passed_on(model, path):
    return model.load_state_dict(torch.load(path, weights_only=True), strict=False)
