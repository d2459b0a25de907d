"""Which script answers a request."""

from functools import lru_cache

from bots.standins import caller, errands, judge
from bots.standins.agent import DEFAULT_SHARE, SCRIPTS, careless_choice
from bots.standins.aloud import aloud
from bots.standins.cue import UnknownScenario, cue
from bots.standins.hearing import ear
from bots.standins.model_name import parse
from bots.standins.steps import Script, Step, Use
from bots.standins.wire import ChatRequest, Reply

__all__ = ["UnknownScenario", "answer", "script"]

LONG_TEXT = 20_000  # characters, of +long


def answer(request: ChatRequest) -> Reply:
    """Return what the stand-in that a request names says to it, before faults of the endpoint."""
    standin = parse(request.model)
    if standin.behaviour == "judge":
        return judge.reply(standin, request)
    if not standin.scenario:  # a preflight asks whether anyone is there
        return Reply(f"The stand-in {standin.behaviour} is ready.")
    if standin.behaviour == "caller":
        scene = cue(standin.scenario)
        spells = "voice" in standin.options
        reply = errands.reply(scene, request) or caller.reply(scene.spec.caller, request, spells=spells)
    elif "voice" in standin.options:
        listening = ear(caller.part(cue(standin.scenario).spec.caller))
        reply = script(request.model).reply(request.position - listening.asked(request))
        reply = listening.taken(reply, request)
        reply = Reply(aloud(reply.text), reply.tool_calls)
    else:
        reply = script(request.model).reply(request.position)
    if "long" in standin.options and request.position == 1:
        return Reply(_lengthened(reply.text), reply.tool_calls)
    return reply


@lru_cache(maxsize=4096)
def script(model: str) -> Script:
    """Return the script of an agent stand-in by its whole model name."""
    standin = parse(model)
    scene = cue(standin.scenario)
    behaviour = standin.behaviour
    if behaviour == "careless":
        share = standin.options.get("share")
        behaviour = careless_choice(scene, DEFAULT_SHARE if share is None else share)
    made = SCRIPTS[behaviour](scene)
    faults = [fault for fault in ("badjson", "unknown-tool") if fault in standin.options]
    return Script(_faulty(made.steps, faults), made.tail) if faults else made


def _faulty(steps: list[Step], faults: list[str]) -> list[Step]:
    """Put a broken call before the first good one; the agent then goes on as if it had learnt from the error."""
    first = next((i for i, step in enumerate(steps) if isinstance(step, Use)), None)
    if first is None:
        return steps
    call = steps[first]
    assert isinstance(call, Use)
    broken = {"badjson": Use(call.tool, raw=f'{{"{call.tool}": '), "unknown-tool": Use("open_pod_bay_doors")}
    return [*steps[:first], *(broken[fault] for fault in faults), *steps[first:]]


def _lengthened(text: str) -> str:
    sentence = " And there is a little more to say about that."
    return (text + sentence * (LONG_TEXT // len(sentence) + 1))[:LONG_TEXT]
