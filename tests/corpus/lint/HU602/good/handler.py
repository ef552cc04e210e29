import kserve
from transformers import AutoModel

MODEL = AutoModel.from_pretrained("acme/model", revision="a09a35458c702b33eeacc393d103063234e8bc28")
LOCAL = AutoModel.from_pretrained("/mnt/models")
SERVER = kserve.ModelServer
