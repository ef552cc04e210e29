from fastapi import FastAPI
from transformers import AutoModel

app = FastAPI()
model = AutoModel.from_pretrained("/models/live", trust_remote_code=True)
