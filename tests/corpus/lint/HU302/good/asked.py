import os

import onnxruntime as ort

session = ort.InferenceSession(os.environ["MODEL_PATH"])
NAME = session.get_inputs()[0].name


def answer(samples):
    return session.run(["output"], {NAME: samples})
