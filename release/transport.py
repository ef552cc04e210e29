"""HTTP to a registry: addresses, tokens, retries of what may be repeated, and errors a person can act on."""

from __future__ import annotations

import base64
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, NoReturn

from ..report.errors import BadInput, InterlockError, NeedsAccess
from ..version import __version__
from .credentials import credentials_for
from .descriptor import parse_json

if TYPE_CHECKING:
    from requests import Response

_LOOPBACK = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
PLAIN = "INTERLOCK_PLAIN_HTTP"
NOT_A_REGISTRY = "check the address: a proxy or a login page may answer in the registry's place"
_ALIASES = {"docker.io": "registry-1.docker.io", "index.docker.io": "registry-1.docker.io"}
_TIMEOUT = (10.0, 120.0)
_ATTEMPTS = 4
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_MAX_ANSWER = 8 << 20


class Transport:
    """One repository of one registry. Loopback hosts, and those named in INTERLOCK_PLAIN_HTTP, are spoken to without
    TLS, all others with it."""

    def __init__(self, host: str, repository: str) -> None:
        import requests

        self.host = _ALIASES.get(host, host)
        self.repository = repository
        plain = {name.strip() for name in os.environ.get(PLAIN, "").split(",")}
        scheme = "http" if _LOOPBACK.fullmatch(host) or host in plain else "https"
        self.base = f"{scheme}://{self.host}/v2/{repository}"
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"interlock/{__version__}"
        self._errors = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
        self._requests = requests
        self._authorization = ""

    @property
    def dropped(self) -> tuple[type[Exception], ...]:
        """What a connection that broke in the middle of a body raises."""
        return self._errors

    def call(
        self, method: str, url: str, *, accept: tuple[int, ...], again: tuple[int, ...] = (), **options: Any
    ) -> Response:
        """One request whose answer must have a status of `accept`.

        `url` may be a path below the repository. Answers a challenge once. What only reads is tried again after a
        dropped connection or a server error: registries answer 500 while another client moves the tag that is read.
        `again` names statuses after which a write is tried again, where writing twice is writing once. Raises
        NeedsAccess without network or credentials, InterlockError on any other answer.
        """
        address = url if "://" in url else f"{self.base}{url}"
        repeatable = bool(again) or method in ("GET", "HEAD")
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1 or not repeatable
            try:
                response = self._send(method, address, options)
            except self._errors as error:
                if last:
                    self._unreachable(error)
            else:
                if response.status_code in accept:
                    return response
                if last or (response.status_code < 500 and response.status_code not in again):
                    self._refused(method, address, response)
                response.close()
            time.sleep(0.1 * 2**attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _send(self, method: str, address: str, options: dict[str, Any]) -> Response:
        headers: dict[str, str] = dict(options.get("headers") or {})
        rest = {key: value for key, value in options.items() if key != "headers"}
        for first in (True, False):
            if self._authorization and address.startswith(self.base):
                headers["Authorization"] = self._authorization
            response = self._session.request(method, address, headers=headers, timeout=_TIMEOUT, stream=True, **rest)
            if response.status_code != 401 or not first or hasattr(options.get("data"), "read"):
                return response
            challenge = response.headers.get("WWW-Authenticate", "")
            response.close()
            self._authorization = self._answer(challenge)
        raise AssertionError("unreachable: the second round returns")

    def _answer(self, challenge: str) -> str:
        """The Authorization header that a challenge asks for (RFC 6750, distribution token specification)."""
        kind, _, rest = challenge.partition(" ")
        login = credentials_for(self.host)
        basic = f"Basic {base64.b64encode(':'.join(login).encode()).decode()}" if login else ""
        if kind.lower() == "basic":
            if not login:
                self._no_credentials("wants a user and a password")
            return basic
        parameters = dict(_PARAMETER.findall(rest))
        realm = parameters.get("realm", "")
        if kind.lower() != "bearer" or not realm.startswith(("https://", "http://")):
            raise NeedsAccess(
                self.host, f"asks for {kind or 'nothing'!r}, not Basic or Bearer", hint="check the address"
            )
        if realm.startswith("http://") and self.base.startswith("https://"):
            raise NeedsAccess(self.host, f"sends logins to {realm} without TLS", hint="do not use this registry")
        scope = parameters.get("scope") or f"repository:{self.repository}:pull,push"
        query = {"service": parameters.get("service", ""), "scope": scope}
        headers = {"Authorization": basic} if basic else {}
        try:
            response = self._session.get(realm, params=query, headers=headers, timeout=_TIMEOUT)
        except self._errors as error:
            self._unreachable(error)
        if response.status_code != 200:
            self._no_credentials(f"its token service answers {response.status_code}")
        answer = parse_json(read_bounded(response), realm, NOT_A_REGISTRY)
        return f"Bearer {answer.get('token') or answer.get('access_token')}"

    def _no_credentials(self, why: str) -> NoReturn:
        hint = f"log in first, for example: docker login {self.host}; or set DOCKER_CONFIG"
        raise NeedsAccess(self.host, why, hint=hint)

    def _unreachable(self, error: Exception) -> NoReturn:
        reason, hint = "cannot be reached", "check the address and the network, then run it again"
        if isinstance(error, self._requests.Timeout):
            reason = "timed out"
        elif isinstance(error, self._requests.exceptions.SSLError):
            reason = "its TLS certificate is not accepted, or it speaks no TLS"
            hint = f"trust its authority with REQUESTS_CA_BUNDLE, or set {PLAIN}={self.host} on a network you trust"
        raise NeedsAccess(self.host, reason, hint=hint) from error

    def _refused(self, method: str, address: str, response: Response) -> NoReturn:
        status = response.status_code
        path = address.removeprefix(self.base).partition("?")[0]
        what = f"oci://{self.host}/{self.repository}"
        if status in (401, 403):
            self._no_credentials(f"does not allow {method} {path} in {self.repository}")
        told = _message(response)
        if status == 404:
            raise BadInput(what, f"{path} is not there{told}", hint="check the repository and the version")
        if status == 429:
            raise InterlockError(what, f"too many requests{told}", hint="wait a while and run it again")
        raise InterlockError(
            what, f"{method} {path} was answered {status}{told}", hint="run it again; then see its log"
        )


def _message(response: Response) -> str:
    """The registry's own words, one line, bounded."""
    try:
        errors = json.loads(read_bounded(response, 1 << 16))["errors"]
        return f": {str(errors[0].get('code', ''))[:60]} {str(errors[0].get('message', ''))[:200]}".rstrip()
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, BadInput):
        return ""


def read_bounded(response: Response, limit: int = _MAX_ANSWER) -> bytes:
    """The body of an answer. Raises BadInput when it is longer than `limit` bytes."""
    data = b""
    try:
        for part in response.iter_content(1 << 16):
            data += part
            if len(data) > limit:
                response.close()
                raise BadInput(response.url, f"answers with more than {limit} bytes", hint="check the address")
    except OSError as error:  # what requests raises is one
        raise NeedsAccess(response.url, "the connection broke", hint="run it again") from error
    return data
