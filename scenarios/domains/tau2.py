"""What the tau2 domains share: their files joined into scenarios, their prompts, and two tools."""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from scenarios.domains.base import CallerBrief, DbAssertion, GoldAction, InitAction, ScenarioSpec, Signal
from scenarios.domains.data import data_root
from scenarios.domains.pinned import OWN_DATA, PinnedDomain
from scenarios.domains.titles import shortened
from scenarios.domains.voice_prompts import agent_prompt, caller_prompt
from scenarios.sides import Side
from scenarios.state.overlay import Seed

PERSONAS = OWN_DATA / "personas.json"
_SIDES: Mapping[str, Side] = {"user": "user", "assistant": "agent", "agent": "agent"}


class Tau2Domain(PinnedDomain):
    """A tau2 domain over ``<data root>/<name>/``: tasks.json, split_tasks.json, policy.md, its database."""

    split: ClassVar[str] = "base"

    def scenarios(self) -> Sequence[ScenarioSpec]:
        """Return the tasks of the split, in the order of tasks.json."""
        return self._scenarios

    def seeds(self, spec: ScenarioSpec) -> Mapping[Side, Seed]:
        """Return the one shared database."""
        return self._seeds

    def agent_prompt(self, spec: ScenarioSpec) -> str:
        """Return the policy unchanged, followed by the notes on speaking, spelling, ending and honesty."""
        return self._agent_prompt

    def caller_prompt(self, spec: ScenarioSpec) -> str:
        """Return persona, goal, and what the caller does and does not know."""
        return caller_prompt(spec.caller)

    def start_state(self, spec: ScenarioSpec, side: Side) -> dict[str, Any]:
        """Return where the shared database lies: it is too large to be sent."""
        if side not in self.seeds(spec):
            return {}
        return {"db_path": f"{self.name}/{'db' if side == 'agent' else 'user_db'}"}

    @abstractmethod
    def _load_seeds(self) -> Mapping[Side, Seed]:
        """Read the database files."""

    def _signals(self, criteria: Mapping[str, Any]) -> tuple[Signal, ...]:
        """Return the gating signals of a task: assertions gate where any are written."""
        if criteria.get("nl_assertions"):
            return ("db_state_match", "nl_assertion", "clean_exit")
        return ("db_state_match", "clean_exit")

    def _scenario_name(self, task_id: str) -> str:
        return f"{self.name}__{task_id}"

    def _extra(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return what pages show of a task beside its contract."""
        return {
            "description": {key: value for key, value in (task.get("description") or {}).items() if value},
            "issues": [issue["title"] for issue in task.get("issues") or []],
        }

    @cached_property
    def _scenarios(self) -> tuple[ScenarioSpec, ...]:
        splits = self._read("split_tasks.json")
        personas = self._personas()
        wanted = set(splits[self.split])
        return tuple(
            self._scenario(task, personas.get(task["id"], ""), splits)
            for task in self._read("tasks.json")
            if task["id"] in wanted
        )

    @cached_property
    def _seeds(self) -> Mapping[Side, Seed]:
        return self._load_seeds()

    @cached_property
    def _agent_prompt(self) -> str:
        return agent_prompt(self._text("policy.md"))

    def _scenario(
        self, task: Mapping[str, Any], persona_name: str, splits: Mapping[str, Sequence[str]]
    ) -> ScenarioSpec:
        criteria = task["evaluation_criteria"]
        brief = task["user_scenario"]["instructions"]
        signals = self._signals(criteria)
        return ScenarioSpec(
            name=self._scenario_name(task["id"]),
            domain=self.name,
            task_id=task["id"],
            title=shortened(brief["reason_for_call"]),
            caller=CallerBrief(
                goal=brief["reason_for_call"],
                personality=brief["task_instructions"],
                known_info=brief.get("known_info") or "",
                unknown_info=brief.get("unknown_info") or "",
            ),
            success_signals=signals,
            gold_actions=tuple(gold_action(action) for action in criteria.get("actions") or ()),
            nl_assertions=tuple(criteria.get("nl_assertions") or ()) if "nl_assertion" in signals else (),
            communicate_info=tuple(criteria.get("communicate_info") or ()),
            reward_basis=tuple(criteria.get("reward_basis") or ()),
            persona=(task["user_scenario"].get("persona") or "").strip(),
            persona_name=persona_name,
            tags=tuple(name for name, ids in splits.items() if name != self.split and task["id"] in ids),
            extra=self._extra(task),
        )

    @cached_property
    def _voices(self) -> Mapping[str, Any]:
        """Return the voice settings of each task; {} without their file."""
        path = data_root() / self.name / "tasks_voice.json"
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["configs"] if path.exists() else {}
        return found

    def voice_settings(self, spec: ScenarioSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return the settings of the scenario's task in ``tasks_voice.json``."""
        settings: Mapping[str, Mapping[str, Any]] = self._voices.get(spec.task_id, {}).get("configs", {})
        return settings

    def _personas(self) -> Mapping[str, str]:
        """Return the persona label of each task: from the voice tasks, or from our own table of the same labels."""
        if self._voices:
            return {task: voices["configs"]["control"]["persona_name"] for task, voices in self._voices.items()}
        labels: dict[str, str] = json.loads(PERSONAS.read_text(encoding="utf-8"))[self.name]
        return labels


def gold_action(action: Mapping[str, Any]) -> GoldAction:
    """Return an expected action as a task file has it (``requestor``, ``compare_args``)."""
    compared = action.get("compare_args")
    return GoldAction(
        tool=action["name"],
        arguments=action["arguments"],
        side="user" if action.get("requestor") == "user" else "agent",
        compare_args=None if compared is None else tuple(compared),
    )


def init_action(action: Mapping[str, Any]) -> InitAction:
    """Return an initialisation step as a task file has it (``env_type`` says whose)."""
    return InitAction(action["func_name"], action["arguments"], _side(action["env_type"]))


def db_assertion(entry: Mapping[str, Any]) -> DbAssertion:
    """Return a predicate over the final database as a task file has it."""
    return DbAssertion(
        func_name=entry["func_name"],
        arguments=entry["arguments"],
        side=_side(entry["env_type"]),
        assert_value=entry["assert_value"],
        message=entry.get("message") or "",
    )


def _side(env_type: str) -> Side:
    """Return whose database is meant; KeyError for an environment that there is not."""
    return _SIDES[env_type]
