import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        call = pb_utils.InferenceRequest(
            model_name="encoder", model_version=self.encoder_version, requested_output_names=["IDS"], inputs=[]
        )
        return [call.exec()]
