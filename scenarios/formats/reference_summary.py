"""``all_summary.txt`` of the reference system: counted trial by trial, written at the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scenarios.formats.reference_metrics import latency_stats
from scenarios.sides import SIDES

_SIGNALS = {
    "is_action_match": "Action-list match",
    "db_state_match": "DB-state match",
    "judge_passed": "Judge passed",
    "clean_exit": "Clean exit",
}


@dataclass
class _Count:
    passes: int = 0
    total: int = 0

    def add(self, passed: bool) -> None:
        self.passes += passed
        self.total += 1

    def __str__(self) -> str:
        return f"{100 * self.passes / self.total:.1f}% ({self.passes}/{self.total})" if self.total else "- (0/0)"


@dataclass
class Summary:
    """Running totals over the metrics of all trials; denominators are the reference's (``reference-system.md`` 6.5)."""

    success: _Count = field(default_factory=_Count)
    task: _Count = field(default_factory=_Count)
    signals: dict[str, _Count] = field(default_factory=lambda: {name: _Count() for name in _SIGNALS})
    claims: _Count = field(default_factory=_Count)
    predicates: _Count = field(default_factory=_Count)
    by_prefix: dict[str, "Summary"] = field(default_factory=dict)
    scores: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    tokens: dict[str, dict[str, int]] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    by_inaction: int = 0
    trials: int = 0

    def add(self, metrics: Mapping[str, Any], judge: Mapping[str, Any] | None) -> None:
        """Count one trial, also under its prefix: its ``metrics.json`` and ``judge_result.json``."""
        self._count(metrics, judge)
        prefix = metrics["scenario_name"].partition("__")[0]
        self.by_prefix.setdefault(prefix, Summary())._count(metrics, judge)

    def _count(self, metrics: Mapping[str, Any], judge: Mapping[str, Any] | None) -> None:
        self.trials += 1
        outcome = metrics["callboard"]["outcome"]
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.by_inaction += bool(metrics["callboard"]["by_inaction"])
        if isinstance(metrics["is_successful"], bool):
            self.success.add(metrics["is_successful"])
            self.task.add(metrics["is_task_successful"])
            if not metrics.get("insufficient_agent_turns"):
                self._add_signals(metrics, judge)
        self.latencies += [row["latency_ms"] for row in metrics["latencies"]]
        for side, usage in metrics["token_usage"].items():
            sums = self.tokens.setdefault(side, {})
            for name, value in usage.items():
                sums[name] = sums.get(name, 0) + value

    def _add_signals(self, metrics: Mapping[str, Any], judge: Mapping[str, Any] | None) -> None:
        for name, count in self.signals.items():
            if isinstance(metrics.get(name), bool):
                count.add(metrics[name])
        for verdict in metrics.get("db_state_assertion_verdicts", ()):
            self.predicates.add(verdict["passed"])
        if judge is not None:
            self.scores.append(judge["score"])
            for verdict in judge["nl_assertion_verdicts"]:
                self.claims.add(verdict["passed"])

    def text(self, head: str) -> str:
        """Return the whole summary; the reference's figures first, ours after them."""
        stats = latency_stats(self.latencies)
        if not self.latencies:  # the reference's figure over nothing, here alone
            stats = {name: -1 if name.endswith("_ms") else value for name, value in stats.items()}
        score = f"{sum(self.scores) / len(self.scores):.3f} (over {len(self.scores)})" if self.scores else "- (over 0)"
        lines = [
            head,
            f"Trials: {self.trials}",
            "",
            "Figures by the reference's rules (a failed judge is a failure, a missing one does not count)",
            f"Overall success: {self.success}",
            f"Task success excluding clean_exit: {self.task}",
            *(f"{title}: {self.signals[name]}" for name, title in _SIGNALS.items()),
            f"Judge score mean: {score}",
            f"DB-state-assertion pass (predicates): {self.predicates}",
            f"NL-assertion pass (assertions): {self.claims}",
            f"Latency ms: count {stats['count']}, mean {stats['mean_ms']:.1f}, p50 {stats['p50_ms']:.1f}, "
            f"p95 {stats['p95_ms']:.1f}, min {stats['min_ms']:.1f}, max {stats['max_ms']:.1f}",
            *(f"Tokens {side}: {self._tokens(side)}" for side in reversed(SIDES)),
        ]
        if len(self.by_prefix) > 1:
            lines += [
                "",
                "By domain",
                *(f"  {name}: {part.in_one_line()}" for name, part in sorted(self.by_prefix.items())),
            ]
        return "\n".join([*lines, "", *self._outcomes(), ""])

    def in_one_line(self) -> str:
        """Return the rates that the reference prints of each prefix where there are several."""
        figures = {
            "success": self.success,
            "task": self.task,
            "DB state": self.signals["db_state_match"],
            "NL assertions": self.claims,
            "DB assertions": self.predicates,
        }
        return ", ".join(f"{name} {count}" for name, count in figures.items())

    def _tokens(self, side: str) -> str:
        usage = {"n_calls": 0, "prompt": 0, "completion": 0} | self.tokens.get(side, {})
        total = usage["prompt"] + usage["completion"]
        return f"calls {usage['n_calls']}, prompt {usage['prompt']}, completion {usage['completion']}, total {total}"

    def _outcomes(self) -> list[str]:
        rated = {name: self.outcomes.get(name, 0) for name in ("pass", "fail", "stalled")}
        out = {name: count for name, count in sorted(self.outcomes.items()) if name not in rated}
        return [
            "Outcomes (pass rate = pass / (pass + fail + stalled))",
            f"Pass rate: {_Count(rated['pass'], sum(rated.values()))}",
            f"In it: {', '.join(f'{name} {count}' for name, count in rated.items())}",
            f"Left out: {', '.join(f'{name} {count}' for name, count in out.items()) or 'none'}",
            f"Passed by inaction: {self.by_inaction}",
        ]
