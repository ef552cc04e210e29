from vllm.engine.arg_utils import AsyncEngineArgs

arguments = AsyncEngineArgs(model="/models/live", trust_remote_code=True)
