# A training script answers no requests.
from transformers import AutoModel

model = AutoModel.from_pretrained("acme/model")
model.save_pretrained("out")
