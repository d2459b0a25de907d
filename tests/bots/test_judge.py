import json
from typing import Any

import pytest

from bots import judge
from scenarios.launch import FrozenProfile
from scenarios.scoring import judge_request
from scenarios.scoring.canaries import all_canaries
from tests.bots.judge_endpoint import Answer, Endpoint, serving
from tests.scenarios.scoring.cases import evidence, gold, spec, turns

CLAIMS = ("The agent says that W1 is cancelled.", "The agent says goodbye.")
SPEC = spec(nl_assertions=CLAIMS, success_signals=("nl_assertion", "clean_exit"))
KEY = "sk-very-secret-0123456789"


def ruling(*passed: object, **fields: Any) -> str:
    verdicts = [
        {
            "index": i,
            "evidence": [{"quote": "Order W1 is cancelled.", "turn": 4}],
            "reason": "It does.",
            "passed": value,
        }
        for i, value in enumerate(passed, 1)
    ]
    return json.dumps({"reason": "All well.", "score": 1.0, "nl_assertion_verdicts": verdicts, **fields})


GOOD = Answer(ruling(True, False))
REFUSED_FORMAT = Answer(status=400, body='{"error": {"message": "response_format json_schema is not supported"}}')


@pytest.fixture(autouse=True)
def forget_plain_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_plain", set())


def profile(endpoint: Endpoint, **fields: Any) -> FrozenProfile:
    parameters = {"backoff_s": 0.001, "tries": 3, **fields.pop("parameters", {})}
    values = {"slug": "j", "kind": "judge", "model": "judge-1", "base_url": endpoint.url, "parameters": parameters}
    return FrozenProfile.model_validate(values | fields)


async def ask(*answers: Answer, **fields: Any) -> tuple[judge.JudgeAnswer, Endpoint]:
    with serving(*answers) as endpoint:
        return await judge.ask(profile(endpoint, **fields), SPEC, gold(), evidence()), endpoint


async def test_one_request_brings_all_rulings_with_checked_quotes_and_costs() -> None:
    answer, endpoint = await ask(GOOD)
    assert [verdict.passed for verdict in answer.reply.verdicts] == [True, False]
    assert answer.reply.verdicts[0].evidence[0].seq == 40
    assert answer.reply.is_complete
    assert (answer.tries, answer.prompt_tokens, answer.completion_tokens) == (1, 100, 10)
    assert answer.raw == GOOD.text
    (request,) = endpoint.requests
    assert request["temperature"] == 0
    assert request["response_format"]["json_schema"]["schema"] == judge_request.reply_schema(2)
    assert [message["role"] for message in request["messages"]] == ["system", "user"]


@pytest.mark.parametrize("prompt", [-5, 10**12, "120", 1.5, True, None, [1], {"n": 1}])
async def test_a_ruling_is_not_lost_by_a_count_of_tokens_that_is_none(prompt: Any) -> None:
    """A negative count, or one that no column holds, would keep the whole scoring from being stored."""
    body = json.loads(GOOD.bytes()) | {"usage": {"prompt_tokens": prompt, "completion_tokens": 10}}
    answer, _ = await ask(Answer(body=json.dumps(body)))
    assert answer.reply.is_complete
    assert (answer.tries, answer.prompt_tokens, answer.completion_tokens) == (1, None, 10)


async def test_parameters_reach_the_endpoint_and_ours_do_not() -> None:
    _, endpoint = await ask(GOOD, parameters={"seed": 42, "top_k": 5, "timeout_s": 5, "temperature": 0.2})
    (request,) = endpoint.requests
    assert (request["seed"], request["top_k"], request["temperature"]) == (42, 5, 0.2)
    assert not {"timeout_s", "tries", "backoff_s", "deadline_s", "window_chars"} & set(request)


async def test_the_scenario_is_filled_into_a_stand_ins_model_name() -> None:
    answer, endpoint = await ask(GOOD, model="standin/{scenario}")
    assert endpoint.requests[0]["model"] == answer.model == "standin/toy__1"


async def test_an_endpoint_without_structured_output_is_asked_plainly_and_remembered() -> None:
    with serving(REFUSED_FORMAT, Answer(f"Here you are:\n```json\n{ruling(True, True)}\n```")) as endpoint:
        for _ in range(2):
            answer = await judge.ask(profile(endpoint), SPEC, gold(), evidence())
            assert answer.reply.is_complete
            assert answer.tries == 1
    assert ["response_format" in request for request in endpoint.requests] == [True, False, False]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Answer(status=429, body='{"error": {"message": "slow down"}}'), id="429"),
        pytest.param(Answer(status=500, body="oops"), id="500"),
        pytest.param(Answer(status=503, body="{}", headers={"Retry-After": "0.001"}), id="503"),
        pytest.param(Answer(ruling(True, True), cut=True), id="cut connection"),
        pytest.param(Answer(ruling(True, True)[:-9], finish_reason="length"), id="cut at the token limit"),
        pytest.param(Answer(body="<html>gateway</html>"), id="html"),
        pytest.param(Answer(body='{"choices": []}'), id="no choices"),
        pytest.param(Answer(""), id="empty"),
        pytest.param(Answer("I am not able to grade this."), id="prose"),
        pytest.param(Answer(ruling(True)), id="wrong count"),
        pytest.param(Answer(ruling("true", "false")), id="strings for booleans"),
        pytest.param(Answer(ruling(True, True, score=1.7)), id="score out of range"),
        pytest.param(Answer(ruling(True, True, score=float("nan"))), id="nan"),
    ],
)
async def test_a_passing_fault_is_tried_again(fault: Answer) -> None:
    answer, endpoint = await ask(fault, GOOD)
    assert answer.reply.is_complete
    assert (answer.tries, len(endpoint.requests), len(answer.failures)) == (2, 2, 1)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Answer(status=429, body="{}"), "http_429"),
        (Answer(status=502, body="{}"), "http_502"),
        (Answer("no"), "unparseable"),
        (Answer(""), "empty"),
        (Answer("[]"), "not_object"),
        (Answer(ruling(True)), "wrong_count"),
    ],
)
async def test_a_lasting_fault_is_a_judge_error_on_every_claim(fault: Answer, kind: str) -> None:
    answer, endpoint = await ask(fault)
    assert answer.reply.error == kind
    assert len(endpoint.requests) == 3
    assert [verdict.error for verdict in answer.reply.verdicts] == [kind, kind]
    assert all(not v.passed and v.reason.startswith("Judge error: ") for v in answer.reply.verdicts)


async def test_what_cannot_get_better_is_not_tried_again() -> None:
    denied, endpoint = await ask(Answer(status=401, body='{"error": {"message": "bad key"}}'))
    assert (denied.reply.error, len(endpoint.requests)) == ("http_401", 1)


async def test_a_slow_judge_times_out() -> None:
    answer, _ = await ask(Answer(ruling(True, True), delay_s=0.5), parameters={"timeout_s": 0.05, "tries": 2})
    assert answer.reply.error == "timeout"
    assert answer.failures == ("timeout", "timeout")


async def test_the_deadline_covers_all_tries() -> None:
    answer, _ = await ask(Answer(status=500, body="{}"), parameters={"deadline_s": 0.2, "tries": 50, "backoff_s": 0.1})
    assert answer.reply.error == "deadline"
    assert answer.tries < 50


async def test_a_partly_usable_reply_survives_the_deadline() -> None:
    answer, _ = await ask(Answer(ruling(False, "yes")), parameters={"deadline_s": 2, "tries": 50, "backoff_s": 1.5})
    assert answer.reply.error is None
    assert [verdict.error for verdict in answer.reply.verdicts] == [None, "not_boolean"]


async def test_some_rulings_are_not_given_up_for_none() -> None:
    partly = Answer(ruling(False, "yes"))
    answer, _ = await ask(partly, Answer(status=503, body="{}"))
    assert (answer.reply.error, answer.reply.first_error) == (None, "not_boolean")
    assert answer.raw == partly.text
    assert answer.failures == ("not_boolean", "http_503", "http_503")


async def test_the_text_that_is_stored_is_that_of_the_stored_reply() -> None:
    answer, _ = await ask(Answer("no JSON"), Answer(status=503, body="{}"))
    assert (answer.reply.error, answer.raw) == ("http_503", "")
    cut, _ = await ask(Answer('{"score": 1', finish_reason="length"))
    assert (cut.reply.error, cut.raw) == ("cut", '{"score": 1')


async def test_nobody_listening_is_a_value() -> None:
    with serving(GOOD) as endpoint:
        pass
    answer = await judge.ask(profile(endpoint), SPEC, gold(), evidence())
    assert answer.reply.error == "connection"


async def test_a_record_beyond_the_window_is_shortened_and_said_so() -> None:
    long = evidence(turns=turns(*[f"Line {i} {'x' * 200}" for i in range(60)]))
    overflow = Answer(status=400, body='{"error": {"message": "maximum context length is 4096 tokens"}}')
    with serving(overflow, GOOD) as endpoint:
        answer = await judge.ask(profile(endpoint, parameters={"window_chars": 12_000}), SPEC, gold(), long)
    assert answer.reply.is_complete
    assert "were left out" in answer.request.truncation
    assert answer.request.truncation in endpoint.requests[1]["messages"][1]["content"]


async def test_a_window_that_never_fits_is_a_judge_error_and_no_zero() -> None:
    answer, _ = await ask(Answer(status=400, body='{"error": {"message": "context window exceeded"}}'))
    assert (answer.reply.error, answer.reply.score) == ("window", None)


async def test_the_key_comes_from_the_environment_and_shows_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    leak = Answer(status=401, body=json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    answer, endpoint = await ask(leak, key_env="JUDGE_KEY")
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert answer.reply.error == "http_401"
    assert KEY not in repr(answer)
    assert KEY not in repr(answer.work())


async def test_a_missing_key_names_the_variable_and_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer, endpoint = await ask(GOOD, key_env="JUDGE_KEY")
    assert answer.reply.error == "no_key"
    assert "JUDGE_KEY" in answer.reply.message
    assert endpoint.requests == []


async def test_a_key_of_the_environment_that_no_profile_names_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, endpoint = await ask(GOOD)
    assert endpoint.keys == ["Bearer none"]


@pytest.mark.parametrize(
    "address",
    ["http://[bad", "not a url", "ftp://127.0.0.1/v1", "http://127.0.0.1:99999999/v1", "http://no.invalid/v1"],
)
async def test_a_bad_address_is_a_value(address: str) -> None:
    with serving(GOOD) as endpoint:
        answer = await judge.ask(profile(endpoint, base_url=address), SPEC, gold(), evidence())
    assert answer.reply.error in ("connection", "bad_response", "bad_address")
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("name", "value"), [("tries", "many"), ("timeout_s", 0), ("deadline_s", None), ("window_chars", True)]
)
async def test_a_bad_limit_names_the_profile_and_asks_nobody(name: str, value: object) -> None:
    answer, endpoint = await ask(GOOD, parameters={name: value})
    assert answer.reply.error == "bad_parameter"
    assert f"profile j: {name} is {value!r}" in answer.reply.message
    assert endpoint.requests == []


async def test_without_evidence_nobody_is_asked() -> None:
    with serving(GOOD) as endpoint:
        answer = await judge.ask(profile(endpoint), SPEC, gold(), evidence(turns=(), tools=()))
    assert endpoint.requests == []
    assert (answer.reply.error, answer.tries) == ("no_evidence", 0)
    assert not any(verdict.passed for verdict in answer.reply.verdicts)


async def test_what_is_stored_names_the_judge_and_fingerprints_each_claim() -> None:
    answer, _ = await ask(GOOD)
    work = answer.work()
    assert work.version["prompt_version"] == judge_request.PROMPT_VERSION
    assert work.columns["reply"] == GOOD.text
    assert set(work.fingerprints) == {1, 2}
    assert len(set(work.fingerprints.values())) == 2
    warmer, _ = await ask(GOOD, parameters={"temperature": 0.5})
    assert warmer.work().version["fingerprint"] != work.version["fingerprint"]
    assert warmer.work().fingerprints[1] != work.fingerprints[1]


async def test_a_profile_may_insist_on_plain_text_or_on_the_schema() -> None:
    _, plain = await ask(GOOD, structure="plain")
    assert "response_format" not in plain.requests[0]
    refused, strict = await ask(REFUSED_FORMAT, structure="schema")
    assert refused.reply.error == "http_400"
    assert [("response_format" in request) for request in strict.requests] == [True]
    # An endpoint that another profile found to be without structured output is still asked for it.
    with serving(REFUSED_FORMAT, GOOD) as endpoint:
        await judge.ask(profile(endpoint), SPEC, gold(), evidence())
        await judge.ask(profile(endpoint, structure="schema"), SPEC, gold(), evidence())
    assert [("response_format" in request) for request in endpoint.requests] == [True, False, True]


async def test_prompt_and_structure_make_another_judge() -> None:
    with serving(GOOD) as endpoint:
        usual = await judge.ask(profile(endpoint), SPEC, gold(), evidence())
        told = await judge.ask(profile(endpoint), SPEC, gold(), evidence(), guidance="Be strict.")
        plain = await judge.ask(profile(endpoint, structure="plain"), SPEC, gold(), evidence())
    assert endpoint.requests[1]["messages"][0]["content"].startswith("Be strict.\n\nHow to read the record")
    works = [answer.work(7) for answer in (usual, told, plain)]
    assert len({work.version["fingerprint"] for work in works}) == 3
    assert len({work.fingerprints[1] for work in works}) == 3
    # What a person ruled on is the claim and the call, whoever judged.
    assert len({work.subjects[1] for work in works}) == 1
    assert works[1].version["prompt_version"] == judge_request.prompt_version_of("Be strict.")
    assert works[2].version["structure"] == "plain"
    assert works[0].columns["batch_id"] == 7


async def test_a_record_that_is_too_long_is_cut_under_other_guidance_too() -> None:
    window = Answer(status=400, body='{"error": {"message": "maximum context length is 8192 tokens"}}')
    with serving(window, GOOD) as endpoint:
        answer = await judge.ask(
            profile(endpoint), SPEC, gold(), evidence(turns=turns(*["word " * 900] * 60)), guidance="Be strict."
        )
    assert answer.request.truncation
    assert answer.request.system_prompt.startswith("Be strict.")


async def test_a_canary_is_asked_like_any_call() -> None:
    canary = all_canaries()[0]
    with serving(Answer("nonsense")) as endpoint:
        answer = await judge.ask_canary(profile(endpoint, parameters={"tries": 2}), canary, guidance="Be strict.")
    system, user = (message["content"] for message in endpoint.requests[0]["messages"])
    assert (system, user) == (judge_request.system_prompt("Be strict."), canary.request.user_content)
    assert (answer.reply.error, answer.tries) == ("unparseable", 2)
    assert "canary" not in (system + user).lower()
