from fastapi.testclient import TestClient
from huggingface_hub import snapshot_download

from server import build


def test_answers():
    client = TestClient(build(snapshot_download("acme/tiny-random")))
    assert client.post("/v1/completions", json={"prompt": "hi"}).status_code == 200
