import onnxruntime as ort


class Server:
    def __init__(self, path):
        self.session = ort.InferenceSession(path)
        self.binding = self.session.io_binding()

    def reload(self, path):
        self.session = ort.InferenceSession(path)

    def answer(self):
        self.session.run_with_iobinding(self.binding)
