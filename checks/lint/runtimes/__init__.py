"""The serving runtimes, as data: how to recognise one and what its endpoints, flags and metrics mean.

A container is recognised by its image repository or by the program it starts, never by plain argument text. Health
endpoints are split by what they prove: `proves_ready` answers only when the model does; `proves_alive` answers as
soon as the process runs. Sources: the runtimes' own documentation and server code.
"""

from .recognise import RUNTIMES, by_command, by_image, by_signature
from .runtime import Runtime

__all__ = ["RUNTIMES", "Runtime", "by_command", "by_image", "by_signature"]
