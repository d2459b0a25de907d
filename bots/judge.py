"""Send a judge request and bring a reply back. What a reply means is decided in ``scenarios.scoring``.

A judge that fails is a value (``JudgeAnswer.reply.error``), never an exception: the call has been held and is not to be
lost. Keys come from the environment and appear in no error, log or stored request.
"""

import asyncio
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import httpx2 as httpx
import openai

from bots.tokens import token_count
from scenarios.domains.base import ScenarioSpec
from scenarios.launch import FrozenProfile
from scenarios.lifecycle import JudgeWork
from scenarios.profiles import endpoint_url
from scenarios.replay import Gold
from scenarios.scoring import judge_reply, judge_request
from scenarios.scoring.canaries import Canary
from scenarios.scoring.evidence import Evidence
from scenarios.scoring.judge_identity import OWN_PARAMETERS, JudgeIdentity, sent_parameters
from scenarios.scoring.judge_reply import JudgeReply
from scenarios.scoring.judge_request import JudgeRequest

MAX_MESSAGE = 300
# Parameters that every chat completion knows; others (top_k, thinking switches...) go in the body as they are.
_STANDARD = frozenset(
    {
        "temperature",
        "top_p",
        "seed",
        "max_tokens",
        "max_completion_tokens",
        "frequency_penalty",
        "presence_penalty",
        "reasoning_effort",
    }
)
_RETRIED = {408, 409, 425, 429}
_WINDOW = re.compile(r"context.{0,20}(?:length|window)|maximum.{0,20}tokens|too (?:long|many tokens)", re.IGNORECASE)
# Endpoints (base_url, model) that refused structured output once: asked plainly from then on, for this process.
_plain: set[tuple[str, str]] = set()


@dataclass(frozen=True)
class JudgeAnswer:
    """One judging of one call: what was asked, what came back, what it cost."""

    reply: JudgeReply
    request: JudgeRequest
    profile: FrozenProfile
    identity: JudgeIdentity  # with the parameters that reached the endpoint
    raw: str = ""
    tries: int = 0  # 0: no request was made
    duration_ms: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    # What went wrong in earlier tries, in order: kinds.
    failures: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """Return the model's name as it was asked for."""
        return self.identity.model

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters that reached the endpoint."""
        return self.identity.parameters

    @property
    def version(self) -> dict[str, Any]:
        """Return the columns of the judge version."""
        return self.identity.columns(self.profile.model_dump())

    def work(self, batch_id: int | None = None) -> JudgeWork:
        """Return what the trial's ending stores: judge version, judging and the fingerprint of each claim's ruling."""
        columns = {
            "system_prompt": self.request.system_prompt,
            "user_content": self.request.user_content,
            "reply": self.raw,
            "score": self.reply.score,
            "reason": self.reply.reason,
            "error": self.reply.first_error or "",
            "tries": self.tries,
            "duration_ms": self.duration_ms,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "truncation": self.request.truncation[:300],
            "batch_id": batch_id,
        }
        fingerprints = {
            index: judge_request.verdict_fingerprint(
                self.model,
                self.parameters,
                self.request,
                claim,
                self.identity.prompt_version,
                self.identity.structure,
            )
            for index, claim in enumerate(self.request.claims, 1)
        }
        return JudgeWork(self.version, columns, fingerprints, dict(enumerate(self.request.subjects, 1)))


class _Failed(Exception):
    """One try failed; ``raw`` is what the judge had said."""

    def __init__(self, kind: str, message: str, *, retry: bool, wait_s: float = 0, raw: str = "") -> None:
        super().__init__(message)
        self.kind, self.retry, self.wait_s, self.raw = kind, retry, wait_s, raw


@dataclass
class _Asking:
    """The state of one judging over its tries."""

    profile: FrozenProfile
    evidence: Evidence
    key: str
    own: dict[str, float]
    request: JudgeRequest
    # Builds the request anew for a shorter window; None: it cannot be shortened.
    rebuild: Callable[[int], JudgeRequest] | None = None
    raw: str = ""
    tries: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    last: JudgeReply | None = None

    @property
    def model(self) -> str:
        return self.profile.model.replace("{scenario}", self.request.scenario)

    @property
    def base_url(self) -> str:
        return endpoint_url(self.profile.model_dump())

    @property
    def parameters(self) -> dict[str, Any]:
        return sent_parameters(self.profile.parameters)

    def clean(self, text: str) -> str:
        """Return a message without the key, in one line, cut to a length that fits everywhere."""
        hidden = text.replace(self.key, "[key]") if self.key else text
        return " ".join(hidden.split())[:MAX_MESSAGE]

    def fail(self, kind: str, message: str, raw: str = "") -> None:
        """Note a failed try."""
        self.failures.append(kind)
        self.keep(judge_reply.failed(self.request.claims, kind, self.clean(message)), raw)

    def keep(self, reply: JudgeReply, raw: str) -> None:
        """Keep the newest reply with its text, but never let go of some rulings for none at all."""
        if self.last is None or self.last.error is not None or reply.error is None:
            self.last, self.raw = reply, raw


async def ask(
    profile: FrozenProfile, spec: ScenarioSpec, gold: Gold, evidence: Evidence, *, guidance: str | None = None
) -> JudgeAnswer:
    """Ask a judge about a call, again where that may help (429, 5xx, timeouts, cut and unreadable replies).

    Without any observed evidence no request is made. Limits are parameters of the profile (``OWN_PARAMETERS``).
    ``guidance`` is the text of the profile's prompt version, None the built-in one.
    """

    def build(window_chars: int) -> JudgeRequest:
        return judge_request.build(spec, gold, evidence, window_chars=window_chars, guidance=guidance)

    own, bad = _own_parameters(profile)
    request = build(int(own["window_chars"]))
    return await _ask(_Asking(profile, evidence, _key(profile), own, request, build), guidance, bad)


async def ask_canary(profile: FrozenProfile, canary: Canary, *, guidance: str | None = None) -> JudgeAnswer:
    """Ask a judge about a call with known answers, in the very way of ``ask``."""
    own, bad = _own_parameters(profile)
    request = replace(canary.request, system_prompt=judge_request.system_prompt(guidance))
    return await _ask(_Asking(profile, canary.evidence, _key(profile), own, request), guidance, bad)


def _key(profile: FrozenProfile) -> str:
    return os.environ.get(profile.key_env, "") if profile.key_env else ""


async def _ask(asking: _Asking, guidance: str | None, bad: str) -> JudgeAnswer:
    profile, start = asking.profile, time.monotonic()
    if not judge_request.has_evidence(asking.evidence):
        asking.last = judge_reply.without_evidence(asking.request.claims)
    elif bad:
        asking.fail("bad_parameter", bad)
    elif profile.key_env and not asking.key:
        asking.fail("no_key", f"the environment variable {profile.key_env} is not set where the lanes run")
    else:
        await _until_deadline(asking)
    assert asking.last is not None
    return JudgeAnswer(
        reply=asking.last,
        request=asking.request,
        profile=profile,
        identity=replace(JudgeIdentity.of(profile.model_dump(), guidance), model=asking.model),
        raw=asking.raw,
        tries=asking.tries,
        duration_ms=round(1000 * (time.monotonic() - start)),
        prompt_tokens=asking.tokens.get("prompt"),
        completion_tokens=asking.tokens.get("completion"),
        failures=tuple(asking.failures),
    )


def _own_parameters(profile: FrozenProfile) -> tuple[dict[str, float], str]:
    """Return our limits, the defaults where the profile's are no numbers above 0, and what is wrong with those."""
    given = {name: profile.parameters.get(name, default) for name, default in OWN_PARAMETERS.items()}
    bad = [name for name, value in given.items() if isinstance(value, bool) or not isinstance(value, int | float)]
    bad += [name for name, value in given.items() if name not in bad and not 0 < value < float("inf")]
    wrong = ", ".join(f"{name} is {given[name]!r}" for name in bad)
    message = f"profile {profile.slug}: {wrong}; numbers above 0 are needed" if bad else ""
    return {name: OWN_PARAMETERS[name] if name in bad else float(value) for name, value in given.items()}, message


async def _until_deadline(asking: _Asking) -> None:
    deadline_s = asking.own["deadline_s"]
    try:
        async with asyncio.timeout(deadline_s), _client(asking) as client:
            await _try_until_complete(client, asking)
    except TimeoutError:
        asking.fail("deadline", f"no usable reply within {deadline_s:g} s")


def _client(asking: _Asking) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=asking.base_url or None,
        api_key=asking.key or "none",
        max_retries=0,
        timeout=asking.own["timeout_s"],
        http_client=openai.DefaultAsyncHttpxClient(verify=_tls()),
    )


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Return the context that all judgings of a process share: making one takes 20 ms of CPU, far more than asking."""
    return httpx.create_ssl_context()


async def _try_until_complete(client: openai.AsyncOpenAI, asking: _Asking) -> None:
    most = max(1, int(asking.own["tries"]))
    while asking.tries < most:
        asking.tries += 1
        wait_s = asking.own["backoff_s"] * 2 ** (asking.tries - 1)
        try:
            text = await _complete(client, asking)
        except _Failed as problem:
            asking.fail(problem.kind, str(problem), problem.raw)
            if not problem.retry:
                return
            wait_s = max(wait_s, problem.wait_s)
        else:
            reply = judge_reply.read(text, asking.request.claims, asking.evidence)
            asking.keep(reply, text)
            if reply.is_complete:
                return
            asking.failures.append(reply.first_error or "incomplete")
        if asking.tries < most:
            await asyncio.sleep(wait_s)


async def _complete(client: openai.AsyncOpenAI, asking: _Asking) -> str:
    """Make one request, asking plainly or with a shorter record where the endpoint demands it."""
    while True:
        try:
            return _text(await _send(client, asking), asking)
        except openai.BadRequestError as problem:
            if _WINDOW.search(str(problem)):
                if not _shorten(asking):
                    raise _Failed(
                        "window", f"the record does not fit the judge's window: {problem}", retry=False
                    ) from None
            elif not _go_plain(asking):
                raise _status_failure(problem) from None
        except openai.APIStatusError as problem:
            if problem.status_code not in (404, 415, 422, 501) or not _go_plain(asking):
                raise _status_failure(problem) from None
        except openai.APITimeoutError:
            raise _Failed("timeout", f"no reply within {asking.own['timeout_s']:g} s", retry=True) from None
        except openai.APIConnectionError as problem:
            cause = problem.__cause__ or problem
            raise _Failed("connection", f"{type(cause).__name__}: {cause}", retry=True) from None
        except _Failed:
            raise
        except Exception as problem:  # whatever the client makes of an address or an answer, the call is kept
            text = f"the endpoint's answer is no completion ({type(problem).__name__}: {problem})"
            raise _Failed("bad_response", text, retry=True) from problem


async def _send(client: openai.AsyncOpenAI, asking: _Asking) -> Any:
    parameters = asking.parameters
    extra = {name: value for name, value in parameters.items() if name not in _STANDARD}
    arguments = {name: value for name, value in parameters.items() if name in _STANDARD}
    if _wants_schema(asking):
        schema = {"name": "ruling", "strict": True, "schema": asking.request.schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    return await client.chat.completions.create(
        model=asking.model,
        messages=[
            {"role": "system", "content": asking.request.system_prompt},
            {"role": "user", "content": asking.request.user_content},
        ],
        extra_body=extra or None,
        **arguments,
    )


def _text(completion: Any, asking: _Asking) -> str:
    """Return the text of a completion; raises _Failed for a reply that was cut or refused."""
    usage = completion.usage
    if usage is not None:
        for name in ("prompt", "completion"):
            count = token_count(getattr(usage, f"{name}_tokens", None))
            if count is not None:
                asking.tokens[name] = asking.tokens.get(name, 0) + count
    if not completion.choices:
        raise _Failed("bad_response", "the endpoint's answer has no choices", retry=True)
    choice = completion.choices[0]
    text = choice.message.content or ""
    if choice.finish_reason == "length":
        raise _Failed("cut", "the reply was cut at the token limit", retry=True, raw=text)
    refusal = getattr(choice.message, "refusal", None)
    if refusal or choice.finish_reason == "content_filter":
        raise _Failed("refused", f"the judge refused: {refusal or 'filtered'}", retry=True, raw=text)
    return str(text)


def _status_failure(problem: openai.APIStatusError) -> _Failed:
    status = problem.status_code
    wait = problem.response.headers.get("retry-after", "")
    return _Failed(
        f"http_{status}",
        f"HTTP {status}: {problem.message}",
        retry=status in _RETRIED or status >= 500,
        wait_s=float(wait) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", wait) else 0,
    )


def _place(asking: _Asking) -> tuple[str, str]:
    return asking.base_url, asking.profile.model


def _wants_schema(asking: _Asking) -> bool:
    structure = asking.profile.structure
    return structure == "schema" or (structure == "auto" and _place(asking) not in _plain)


def _go_plain(asking: _Asking) -> bool:
    """Give structured output up for this endpoint; False when it was not in use, or the profile insists on it."""
    if asking.profile.structure != "auto" or _place(asking) in _plain:
        return False
    _plain.add(_place(asking))
    return True


def _shorten(asking: _Asking) -> bool:
    """Halve the record that is shown; False when little is left."""
    window = int(asking.own["window_chars"]) // 2
    if window < 2000 or asking.rebuild is None:
        return False
    asking.own["window_chars"] = window
    asking.request = asking.rebuild(window)
    return True
