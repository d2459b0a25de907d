"""Small run folders and logs of other harnesses, as the tests need them: written by hand after their specifications."""

import io
import json
import wave
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ADDRESS = {
    "order_id": "#W2378156",
    "address1": "1 Main St",
    "address2": "",
    "city": "Austin",
    "state": "TX",
    "country": "USA",
    "zip": "78701",
}


def put(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files into a folder: bytes and texts as they are, lists of lines, and everything else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def lines(*entries: Any) -> str:
    """Return entries as JSON, one a line."""
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def sound(channels: int = 2, rate: int = 16000, frames: int = 800) -> bytes:
    """Return a short WAV file of silence."""
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"\0\0" * channels * frames)
    return stream.getvalue()


def asks(tool: str, arguments: Any, call_id: str) -> dict[str, Any]:
    """Return a message of an LLM's context with one tool call."""
    function = {"name": tool, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def reference_metrics(**fields: Any) -> dict[str, Any]:
    """Return the metrics of a call of the reference system that passed."""
    base = {
        "total_turns": 2,
        "duration_seconds": 12.5,
        "turns": [{"timestamp": 0.5, "role": "user", "text": "Move it."}],
        "latency_stats": {"count": 0},
        "latencies": [],
        "scenario_name": "tau2_retail__24",
        "scenario_directory": "eval_results/eval_20260101_000000/tau2_retail__24",
        "stop_reason": "[EXIT]",
        "clean_exit": True,
        "is_action_match": False,
        "token_usage": {"agent": {"n_calls": 3, "prompt": 10, "completion": 5}},
        "db_state_expected_hash": "0" * 64,
        "db_state_match": True,
        "db_state_actual_hash": "0" * 64,
        "db_state_assertion_verdicts": [{"func_name": "assert_x", "side": "user", "passed": True, "expected": True}],
        "success_breakdown": {
            "passed": ["db_state_match", "clean_exit"],
            "failed": [],
            "not_applicable": [],
            "excluded": [],
        },
        "is_successful": True,
        "is_task_successful": True,
    }
    return {**base, **fields}


def reference_call(**metrics: Any) -> dict[str, Any]:
    """Return the files of one call's folder."""
    return {
        "metrics.json": reference_metrics(**metrics),
        "judge_result.json": {
            "score": 1.0,
            "reason": "well done",
            "nl_assertion_verdicts": [{"index": 1, "assertion": "says so", "passed": True, "reason": "it did"}],
            "judge_input": {"system_prompt": "Judge.", "user_content": "..."},
        },
        "final_agent_response.json": [{"actions": [{"name": "cancel", "arguments": {"a": 1}, "side": "agent"}]}],
        "final_scenario_db_hash.txt": f"db_hash: {'a' * 64}\nuser_db_hash: {'b' * 64}\n",
        "conversation_log.txt": "Scenario: x\n[0.50s - 1.50s] (1.00s) USER: Move it.\n",
        "conversation_log.seglst.json": [
            {"session_id": "s", "words": "Move it.", "speaker": "user", "start_time": 0.5, "end_time": 1.5},
            {"session_id": "s", "words": "Done. Bye.", "speaker": "agent", "start_time": 2.0, "end_time": 3.25},
        ],
        "conversation_log.wav": sound(),
        "bridge_log.txt": "2026-01-01 00:00:00 [AGENT] EVENT bot-started-speaking\n",
        "bot_logs_agent/llm_context.json": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Move it."},
            asks("ModifyPendingOrderAddressTool", ADDRESS, "c1"),
            {"role": "tool", "tool_call_id": "c1", "content": '{"status": "success"}'},
            {"role": "assistant", "content": "Done. Bye."},
        ],
        "bot_logs_user/llm_context.json": [
            {"role": "system", "content": "You call."},
            {"role": "assistant", "content": "Move it."},
            {"role": "user", "content": "Done. Bye."},
        ],
        "scenario_config/metadata.json": {
            "name": "tau2_retail__24",
            "domain": "tau2_retail",
            "success_signals": ["db_state_match", "clean_exit"],
            "nl_assertions": ["says so"],
            "initialization_actions": None,
            "db_state_assertions": None,
            "expected_scenario_db_hash": "c" * 64,
        },
        "scenario_config/reference_answer.json": {
            "actions": [
                {"action_type": "modify_pending_order_address", "name": "modify_pending_order_address",
                 "arguments": ADDRESS, "result": {}, "side": "agent"}
            ]
        },
        "scenario_config/agent_prompt.txt": "Be kind.",
        "trace_metrics.json": {"api_key": "sk-abcdefgh12345678", "spans": 3},
    }  # fmt: skip


def reference_run(folder: Path, calls: Mapping[str, Mapping[str, Any]] | None = None, **files: Any) -> Path:
    """Write a run of the reference system."""
    arguments = {"agent_url": "ws://10.0.0.1:8765", "judge_model": "j", "judge_api_key": "sk-live12345678901234"}
    invocation = {"started_at": "2026-01-01T00:00:00", "argv": ["--judge-api-key", "sk-live12345678901234"]}
    put(folder, {"run_args.json": {"invocations": [{**invocation, "parsed_args": arguments}]}, **files})
    for name, content in ({"tau2_retail__24": reference_call()} if calls is None else calls).items():
        put(folder / name, content)
    return folder


def eva_record(**result: Any) -> dict[str, Any]:
    """Return the files of one eva record: a caller, a tool call and a goodbye."""
    start = 1_772_403_723_000
    asked = {"confirmation_number": "ZK3FFW", "last_name": "Rodriguez"}

    def entry(kind: str, value: Any, after: int) -> dict[str, Any]:
        return {"message_type": kind, "value": value, "timestamp": str(start + after), "type": "text"}

    return {
        "result.json": {
            "record_id": "1.1.2",
            "completed": True,
            "error": None,
            "started_at": "2026-03-01T17:22:03",
            "duration_seconds": 20.5,
            "num_tool_calls": 1,
            "conversation_ended_reason": "goodbye",
            "audio_user_path": "/home/somebody/output/audio_user.wav",
            **result,
        },
        "audit_log.json": {
            "transcript": [
                entry("user", "My code is ZK3FFW.", 4000),
                entry("llm_call", {"agent": "a", "response": ""}, 4100),
                entry("tool_call", {"tool": "get_reservation", "parameters": asked}, 4200),
                entry("tool_response", {"tool": "get_reservation", "response": {"status": "success"}}, 4300),
                entry("assistant", "Got it, Ms Rodriguez.", 5000),
            ],
            "llm_prompts": [{"prompt": [{"role": "system", "content": "You are an airline."}]}],
            "conversation_messages": [],
        },
        "transcript.jsonl": lines(
            {"timestamp": "2026-03-01T22:22:04.000+00:00", "role": "assistant", "content": "Hello!"},
            {"timestamp": "2026-03-01T22:22:07.000+00:00", "role": "user", "content": "My code"},
        ),
        "elevenlabs_events.jsonl": lines(
            {"timestamp": start, "type": "connection_state", "data": {"state": "connected"}},
            {"timestamp": start + 2500, "event_type": "audio_start", "user": "elevenlabs_user"},
            {"timestamp": start + 2600, "type": "user_speech", "data": {"text": "My code is Z K three F F W."}},
            {"timestamp": start + 5500, "event_type": "audio_start", "user": "framework_agent"},
            {"timestamp": start + 7500, "event_type": "audio_end", "user": "framework_agent"},
            {"timestamp": start + 8000, "type": "assistant_speech", "data": {"text": "Got it, Miss Rodriguez."}},
        ),
        "initial_scenario_db.json": {"_current_date": "2026-03-17", "reservations": {}, "journeys": {}},
        "final_scenario_db.json": {"_current_date": "2026-03-17", "reservations": {}, "journeys": {}},
        "response_latencies.json": {"latencies": [1.5], "mean": 1.5, "max": 1.5, "count": 1},
        "metrics.json": {"metrics": {"task_completion": {"name": "task_completion", "score": 1.0}}},
        "audio_user.wav": sound(1, 24000, 2400),
    }  # fmt: skip


def eva_run(folder: Path, records: Mapping[str, Mapping[str, Any]] | None = None) -> Path:
    """Write an eva run."""
    pipeline = {"llm_model": "gpt-x", "stt_model": "s", "llm_params": {"api_key": "sk-abcdefgh12345678"}}
    put(folder, {"config.json": {"run_id": "r1", "pipeline": pipeline, "base_port": 1}})
    records = {"1.1.2": eva_record()} if records is None else records
    listed = [f"{name.partition('/')[0]},true,1,1,1,goodbye," for name in records]
    put(folder, {"results.csv": "\n".join(["record_id,completed,x", *dict.fromkeys(listed), ""])})
    for name, content in records.items():
        put(folder / "records" / name, content)
    return folder


def sample(**fields: Any) -> dict[str, Any]:
    """Return an Inspect sample: one tool call, one attachment, one score."""
    key = "0123456789abcdef0123456789abcdef"
    base = {
        "id": "retail_24",
        "epoch": 1,
        "uuid": "u1",
        "input": "Hi",
        "target": "",
        "messages": [
            {"id": "m0", "role": "system", "content": f"attachment://{key}"},
            {"id": "m1", "role": "user", "content": [{"type": "text", "text": "Hi"}], "source": "input"},
            {"id": "m2", "role": "assistant", "content": "", "tool_calls": [
                {"id": "t1", "function": "get_order_details", "arguments": {"order_id": "#W1"}, "type": "function"}]},
            {"id": "m3", "role": "tool", "tool_call_id": "t1", "content": "no such order",
             "error": {"type": "unknown", "message": "no such order"}},
            {"id": "m4", "role": "assistant", "content": "Sorry."},
        ],
        "output": {"model": "m", "choices": [{"stop_reason": "stop"}]},
        "scores": {"match": {"value": "C", "explanation": "fine"}},
        "metadata": {},
        "store": {},
        "total_time": 1.5,
        "attachments": {key: "Be kind. " * 20},
    }  # fmt: skip
    return {**base, **fields}


def inspect_header(**fields: Any) -> dict[str, Any]:
    """Return the head of an Inspect log."""
    spec = {
        "task": "inspect_evals/tau2_retail",
        "created": "2026-01-01T00:00:00+00:00",
        "model": "openai/gpt",
        "model_base_url": "http://10.1.2.3/v1",
        "model_args": {"api_key": "sk-abcdefgh12345678"},
        "config": {"epochs": 2},
        "revision": {"type": "git", "origin": "o", "commit": "abc"},
    }
    plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}]}
    return {"version": 2, "status": "success", "eval": spec, "plan": plan, "results": {}, "stats": {}, **fields}


def inspect_json(**fields: Any) -> dict[str, Any]:
    """Return a whole Inspect log."""
    return {**inspect_header(), "samples": [sample(), sample(epoch=2, uuid="u2")], **fields}


def inspect_zip(path: Path, members: Mapping[str, Any] | None = None) -> Path:
    """Write an ``.eval`` file."""
    if members is None:
        members = {"samples/retail_24_epoch_1.json": sample(), "header.json": inspect_header()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path
