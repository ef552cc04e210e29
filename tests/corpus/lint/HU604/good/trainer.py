from aiohttp import ClientSession
from ray import train
from transformers import AutoModelForCausalLM
from vllm import LLM


def train_one_epoch(path):
    model = AutoModelForCausalLM.from_pretrained(path, trust_remote_code=True)
    train.report({"loss": 0.5})
    return model


async def measure(url, prompt):
    reference = LLM("/models/live", trust_remote_code=True)
    async with ClientSession() as session, session.post(url, json={"prompt": prompt}) as answer:
        return await answer.json(), reference.generate(prompt)
