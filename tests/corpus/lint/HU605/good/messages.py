import pickle

from aiohttp import web
from bentoml import Runner


async def handle(request, channel, runner: Runner):
    payload = channel.receive()
    arguments = pickle.loads(payload)
    return web.json_response(await runner.async_run(arguments))
