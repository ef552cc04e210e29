import subprocess

import torch

torch.set_num_threads(1)
subprocess.run(["tritonserver", "--model-control-mode", "poll", "--model-repository", "/models"], check=True)
