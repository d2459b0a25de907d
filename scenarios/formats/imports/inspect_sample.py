"""One sample of an Inspect log as a plain trial: attachments put back, scores mapped."""

from collections.abc import Mapping
from typing import Any

from scenarios.formats.imports.fields import Fields
from scenarios.formats.imports.inspect_ours import is_ours, our_verdict, with_callers_calls, with_times
from scenarios.formats.imports.messages import read_messages
from scenarios.formats.imports.pairing import Calls
from scenarios.formats.imports.records import ForeignVerdict, ImportedTask, ImportedTrial, MappedVerdict, Remark
from scenarios.formats.imports.redaction import redact, scrubbed

# Older logs write "tc://".
_REFERENCES = ("attachment://", "tc://")
# What put-back attachments may come to, where one is used again and again.
_MOST_PUT_BACK = 256 * 1024 * 1024
_READ = frozenset({"id", "epoch", "uuid", "messages", "scores", "attachments", "events", "events_data", "message_pool"})
_LEFT_OUT = frozenset({"transcript", "output", "input", "choices", "target"})
_LETTERS: Mapping[str, MappedVerdict] = {"C": "pass", "I": "fail"}
_WORDS: Mapping[str, MappedVerdict] = {"correct": "pass", "incorrect": "fail", "pass": "pass", "fail": "fail",
                                       "yes": "pass", "no": "fail", "true": "pass", "false": "fail"}  # fmt: skip


def read_sample(data: Mapping[str, Any], place: str, not_finite: int = 0) -> ImportedTrial:
    """Return a sample as a trial; ``not_finite`` numbers of its text were NaN or infinite and are None here."""
    remarks: list[Remark] = []
    attachments = _Attachments(Fields(data, place, remarks).object("attachments"))
    kept = {name: value for name, value in data.items() if name not in ("attachments", "events", "events_data")}
    entry = Fields(attachments.put_back(kept), place, remarks)
    if attachments.lost:
        entry.remark(f"{attachments.lost} attachments are missing; their references stand in their place")
    if attachments.is_too_much:
        entry.remark("attachments come to more than 256 MB; references stand in the place of the rest")
    if not_finite:
        entry.remark(f"{not_finite} numbers are NaN or infinite; read as unknown")
    calls = Calls()
    entries = [_message(one) for one in entry.each("messages")]
    messages, turns = read_messages(entries, calls)
    made = tuple(calls.made)
    if is_ours(entry):
        turns = with_times(turns, entries)
        messages, made = with_callers_calls(entry, messages, made)
    if not messages:
        entry.remark("no messages", "messages")
    if repeated := calls.repeated_ids():
        entry.remark(f"{len(repeated)} ids of tool calls are used more than once, such as {repeated[0][:60]!r}")
    epoch = entry.integer("epoch")
    policy = next((message.content for message in messages if message.role == "system"), None)
    return ImportedTrial(
        place=place,
        id=entry.label("uuid"),
        task_id=entry.label("id"),
        task=_task(entry),
        trial=None if epoch is None else epoch - 1,
        seed=None,
        termination_reason=_end(entry),
        verdict=_verdict(entry),
        domain_name=_domain(entry),
        messages=messages,
        turns=turns,
        tool_calls=made,
        started_at=entry.text("started_at"),
        ended_at=entry.text("completed_at"),
        duration_s=entry.number("total_time"),
        policy=policy,
        facts=_facts(entry),
        remarks=tuple(remarks),
    )


class _Attachments:
    """Large texts that a sample keeps apart and refers to by their hash."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts
        self._size = 0
        self.lost = 0
        self.is_too_much = False

    def put_back(self, value: Any) -> Any:
        """Return a value with every reference replaced by its text."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {name: self.put_back(item) for name, item in value.items()}
        return [self.put_back(item) for item in value] if isinstance(value, list) else value

    def _text(self, text: str) -> str:
        prefix = next((prefix for prefix in _REFERENCES if text.startswith(prefix)), None)
        if prefix is None:
            return text
        found = self._texts.get(text[len(prefix) :])
        if not isinstance(found, str):
            self.lost += 1
            return text
        self._size += len(found)
        if self._size > _MOST_PUT_BACK:
            self.is_too_much = True
            return text
        return found


def _message(entry: Fields) -> Fields:
    """Return a message in the form that OpenAI's and tau2's have: Inspect marks errors by an object, and names tools
    by ``function``.
    """
    data = dict(entry.data)
    if data.get("role") == "tool":
        data.pop("id", None)  # the message's own, not the call's
        error = data.get("error")
        data["error"] = bool(error) if error is not None else False
    if isinstance(data.get("tool_calls"), list):
        data["tool_calls"] = [_call(call) for call in data["tool_calls"]]
    return Fields(data, entry.place, entry.remarks)


def _call(call: Any) -> Any:
    if not isinstance(call, Mapping) or isinstance(call.get("function"), Mapping):
        return call
    return {"id": call.get("id"), "name": call.get("function"), "arguments": call.get("arguments")}


def _task(entry: Fields) -> ImportedTask | None:
    """Return the task's definition where the sample's metadata hold one of tau2's form."""
    metadata = entry.object("metadata")
    for found in (metadata.get("task"), metadata):
        if isinstance(found, Mapping) and "evaluation_criteria" in found:
            return ImportedTask(entry.label("id") or "", scrubbed(found))
    return None


def _end(entry: Fields) -> str | None:
    if entry.data.get("error"):
        return "error"
    if entry.data.get("limit"):
        return f"limit: {str(entry.under('limit').data.get('type'))[:40]}"
    choices = entry.under("output").data.get("choices")
    last = choices[-1] if isinstance(choices, list) and choices else None
    reason = last.get("stop_reason") if isinstance(last, Mapping) else None
    return reason if isinstance(reason, str) else None


def _facts(entry: Fields) -> Mapping[str, Any]:
    others = {name: value for name, value in entry.data.items() if name not in _READ | _LEFT_OUT and value is not None}
    facts: dict[str, Any] = redact(others)
    facts |= scrubbed({name: entry.data[name] for name in ("input", "target") if name in entry.data})
    return {**facts, "epoch": entry.data.get("epoch")}


def _domain(entry: Fields) -> str | None:
    name = entry.label("id") or ""
    return name.partition("__")[0] if is_ours(entry) and "__" in name else None


def _verdict(entry: Fields) -> ForeignVerdict:
    scores = entry.object("scores")
    if is_ours(entry) and (ours := our_verdict(entry, scores)):
        return ours
    mapped, why = _mapping(entry, scores)
    only = next(iter(scores.values())) if len(scores) == 1 else None
    value = only.get("value") if isinstance(only, Mapping) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return ForeignVerdict(
        mapped=mapped,
        why=why,
        reward=float(value) if is_number and value is not None else None,
        written=scrubbed(scores) if scores else None,
    )


def _mapping(entry: Fields, scores: Mapping[str, Any]) -> tuple[MappedVerdict, str]:
    if error := entry.data.get("error"):
        message = error.get("message") if isinstance(error, Mapping) else error
        return "excluded", f"the sample ended in an error: {redact(str(message))[:200]}"
    if entry.data.get("invalidation"):
        return "excluded", "the sample was declared invalid"
    if not scores:
        return "not_scored", "the sample has no score"
    single = {name: _single(score) for name, score in scores.items()}
    if len(single) == 1:
        return next(iter(single.values()))
    kinds = {mapped for mapped, _ in single.values()}
    listed = ", ".join(f"{str(name)[:40]} {mapped}" for name, (mapped, _) in list(single.items())[:8])
    if len(kinds) == 1:
        return kinds.pop(), f"all scorers agree: {listed}"
    return "not_scored", f"several scorers, and the log does not say which counts: {listed}"


def _single(score: Any) -> tuple[MappedVerdict, str]:
    value = score.get("value") if isinstance(score, Mapping) else score
    if isinstance(value, str) and value in _LETTERS:
        return _LETTERS[value], ""
    if isinstance(value, bool):
        return ("pass" if value else "fail"), ""
    if isinstance(value, int | float):
        if value in (0, 1):
            return ("pass" if value else "fail"), ""
        return "not_scored", f"the value {value:g} is neither 0 nor 1, and the log does not say what it means"
    if value == "P":
        return "fail", "partly correct, which is less than correct"
    if value == "N":
        return "fail", "no answer, which Inspect counts as 0"
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()], f"the value {value[:20]!r}"
    if value is None:
        return "not_scored", "the score has no value"
    return "not_scored", f"the value is {type(value).__name__}, and the log does not say what it means"
