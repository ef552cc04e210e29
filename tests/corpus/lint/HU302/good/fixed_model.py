import onnx
import onnxruntime as ort
from onnx import helper

session = ort.InferenceSession("models/vad.onnx")
graph = helper.make_model(None)
built = ort.InferenceSession(graph.SerializeToString())


def answer(samples):
    return session.run(["output"], {"input": samples}), built.run(["y"], {"x": samples})
