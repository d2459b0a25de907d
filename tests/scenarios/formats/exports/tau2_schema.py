"""tau2's data model as ``spec/trajectories.md`` 3 has it: which fields a file needs, and of what type they are.

A field without a default is one that every stored file of upstream's has; ``test_tau2`` reads those files with it.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Termination = Literal[
    "user_stop",
    "agent_stop",
    "max_steps",
    "timeout",
    "too_many_errors",
    "agent_error",
    "user_error",
    "infrastructure_error",
    "context_window_exceeded",
    "unexpected_error",
]
Basis = Literal["DB", "ENV_ASSERTION", "NL_ASSERTION", "COMMUNICATE", "ACTION"]
Role = Literal["user", "assistant"]


class _Model(BaseModel):
    # No text passes for a number, nor a number for a text.
    model_config = ConfigDict(strict=True)


class ToolCall(_Model):
    """A call of a tool."""

    id: str
    name: str
    arguments: dict[str, Any]
    requestor: Role


class Message(_Model):
    """Any message; a tool's has an id, a requestor and whether it failed."""

    role: Literal["system", "assistant", "user", "tool"]
    content: str | None
    tool_calls: list[ToolCall] | None = None
    id: str | None = None
    requestor: Role | None = None
    error: bool | None = None
    turn_idx: int | None
    timestamp: str | None


class Action(_Model):
    """An expected call."""

    action_id: str
    requestor: Role = "assistant"
    name: str
    arguments: dict[str, Any]
    info: str | None = None
    compare_args: list[str] | None = None


class EnvAssertion(_Model):
    """A predicate."""

    env_type: Role
    func_name: str
    arguments: dict[str, Any]
    assert_value: bool = True
    message: str | None = None


class Criteria(_Model):
    """What a task is judged by."""

    actions: list[Action] | None
    env_assertions: list[EnvAssertion] | None
    communicate_info: list[str] | None
    nl_assertions: list[str] | None
    reward_basis: list[Basis] = ["DB", "COMMUNICATE"]


class Instructions(_Model):
    """What the caller is told."""

    domain: str
    reason_for_call: str
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str


class UserScenario(_Model):
    """The caller of a task."""

    persona: str | None
    instructions: str | Instructions


class InitStep(_Model):
    """A step before the call."""

    env_type: Role
    func_name: str
    arguments: dict[str, Any]


class InitialState(_Model):
    """The start of a task."""

    initialization_data: dict[str, Any] | None
    initialization_actions: list[InitStep] | None
    message_history: list[Message] | None


class Task(_Model):
    """A task."""

    id: str
    description: dict[str, str | None] | None
    user_scenario: UserScenario
    ticket: str | None
    initial_state: InitialState | None
    evaluation_criteria: Criteria | None


class DBCheck(_Model):
    """Whether the databases match."""

    db_match: bool
    db_reward: float


class ActionCheck(_Model):
    """Whether an expected call was made."""

    action: Action
    action_match: bool
    action_reward: float


class EnvCheck(_Model):
    """Whether a predicate holds."""

    env_assertion: EnvAssertion
    met: bool
    reward: float


class NLCheck(_Model):
    """Whether a claim holds."""

    nl_assertion: str
    met: bool
    justification: str


class CommunicateCheck(_Model):
    """Whether a fact was said."""

    info: str
    met: bool
    justification: str


class RewardInfo(_Model):
    """A verdict."""

    reward: float
    db_check: DBCheck | None = None
    action_checks: list[ActionCheck] | None = None
    env_assertions: list[EnvCheck] | None = None
    nl_assertions: list[NLCheck] | None = None
    communicate_checks: list[CommunicateCheck] | None = None
    reward_basis: list[Basis] | None = None
    reward_breakdown: dict[Basis, float] | None = None
    info: dict[str, Any] | None = None


class Simulation(_Model):
    """A call."""

    id: str
    task_id: str
    timestamp: str | None = None
    start_time: str
    end_time: str
    duration: float
    termination_reason: Termination
    agent_cost: float | None
    user_cost: float | None
    reward_info: RewardInfo | None
    messages: list[Message]
    trial: int | None
    seed: int | None


class AgentInfo(_Model):
    """The agent."""

    implementation: str
    llm: str | None
    llm_args: dict[str, Any] | None


class UserInfo(AgentInfo):
    """The simulated caller."""

    global_simulation_guidelines: str | None


class EnvironmentInfo(_Model):
    """The domain."""

    domain_name: str
    policy: str
    tool_defs: Any


class Info(_Model):
    """The run."""

    git_commit: str
    num_trials: int
    max_steps: int
    max_errors: int
    user_info: UserInfo
    agent_info: AgentInfo
    environment_info: EnvironmentInfo
    seed: int | None


class Results(_Model):
    """A file."""

    timestamp: str
    info: Info
    tasks: list[Task]
    simulations: list[Simulation]
