# A conversion script answers no requests.
from transformers import AutoModel

AutoModel.from_pretrained("/models/live", trust_remote_code=True).save_pretrained("out")
