"""One cheap request to an endpoint: does it answer, and if not, what is to be done."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import openai
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils import timezone
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from bots.bridge.contract import PartyFailed
from bots.bridge.theirs.rehearsal import rehearse
from scenarios.models import Preflight
from scenarios.profiles import endpoint_url

TIMEOUT_S = 15.0
# Of a profile's parameters, those that an endpoint may refuse; prices, limits and such are not its business.
_PASSED_ON = ("temperature", "top_p", "seed", "reasoning_effort")


class Unreachable(Exception):
    """The endpoint is of no use as it stands; the text says why and what to do."""


async def check_all(row_ids: Sequence[int]) -> None:
    """Check every row's profile, all at once."""
    rows = [row async for row in Preflight.objects.filter(pk__in=row_ids).select_related("profile")]
    await asyncio.gather(*(_check(row) for row in rows))
    await sync_to_async(connections.close_all)()


async def _check(row: Preflight) -> None:
    started = time.monotonic()
    profile = row.profile.frozen()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            row.detail = await (_dial(profile) if profile["address"] else _ask(profile))
        row.state = Preflight.State.OK
        row.latency_ms = round((time.monotonic() - started) * 1000)
    except TimeoutError:
        row.state, row.detail = Preflight.State.FAILED, f"no answer within {TIMEOUT_S:.0f} s"
    except Unreachable as error:
        row.state, row.detail = Preflight.State.FAILED, _without_key(str(error), profile)[:500]
    row.answered_at = timezone.now()
    await row.asave()


async def _ask(profile: Mapping[str, Any]) -> str:
    """Request one token of a model; return what answered."""
    url = endpoint_url(profile)
    parameters = {name: value for name, value in profile["parameters"].items() if name in _PASSED_ON}
    messages: list[Any] = [{"role": "user", "content": "Say OK."}]
    client = openai.AsyncOpenAI(api_key=_key(profile), base_url=url, max_retries=0, timeout=TIMEOUT_S)
    async with client:
        try:
            reply = await client.chat.completions.create(
                model=profile["model"], messages=messages, max_completion_tokens=16, **parameters
            )
        except openai.APIStatusError as error:
            raise Unreachable(
                f"HTTP {error.status_code} from {url}: {_said(error)}{_remedy(error, profile)}"
            ) from error
        except openai.APIConnectionError as error:
            raise Unreachable(f"nothing answers at {url} ({error.__cause__ or error}); is it running there?") from error
        except openai.OpenAIError as error:
            raise Unreachable(f"{url} answered what no model endpoint should: {error}") from error
    return f"{getattr(reply, 'model', '') or profile['model']} answers"


async def _dial(profile: Mapping[str, Any]) -> str:
    """Open and close an external party's socket; one that keeps its own tools is taken through a call without words."""
    if profile["tools_run"] == "theirs":
        try:
            return await rehearse(profile["address"], "user" if profile["kind"] == "caller" else "agent")
        except PartyFailed as failure:
            raise Unreachable(str(failure)) from failure
    try:
        async with connect(profile["address"], open_timeout=TIMEOUT_S):
            return "the socket opens"
    except (OSError, WebSocketException) as error:
        raise Unreachable(f"no socket opens at {profile['address']}: {error}") from error


def _key(profile: Mapping[str, Any]) -> str:
    """Return the endpoint's key; endpoints that need none get a word in its place, as the client insists on one."""
    name = profile["key_env"]
    if not name:
        return "none"
    if key := os.environ.get(name):
        return key
    raise Unreachable(f"environment variable {name} is not set where the worker runs: set it there and start it again")


def _said(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error.message)[:300]


def _remedy(error: openai.APIStatusError, profile: Mapping[str, Any]) -> str:
    if error.status_code in (401, 403):
        return f" (check the key in {profile['key_env'] or 'the variable that key_env should name'})"
    if error.status_code == 404:
        return f" (check the base URL and the model name {profile['model']!r})"
    return ""


def _without_key(text: str, profile: Mapping[str, Any]) -> str:
    key = os.environ.get(profile["key_env"] or "", "")
    return text.replace(key, "[key]") if key else text
