import onnxruntime as ort


class Local:
    def __init__(self, path):
        self.session = ort.InferenceSession(path)

    def reload(self, path):
        self.session = ort.InferenceSession(path)

    def answer(self):
        session = self.session
        binding = session.io_binding()
        session.run_with_iobinding(binding)


class Together:
    def __init__(self, path):
        self.load(path)

    def load(self, path):
        self.engine = ort.InferenceSession(path)
        self.binding = self.engine.io_binding()
