# A server of its own process may set what it likes.
import os

import torch
from fastapi import FastAPI

os.environ["TOKENIZERS_PARALLELISM"] = "false"
torch.set_num_threads(1)
app = FastAPI()
