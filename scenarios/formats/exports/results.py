"""What the outcomes of a run mean in files: rated or left out, and ids that stay the same from file to file."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from scenarios.formats.reference_records import RunExport, TrialExport, VerdictRecord
from scenarios.scoring.results import RATED


def trial_id(run: RunExport, trial: TrialExport) -> str:
    """Return the id of a trial: the same in every export of this installation."""
    return f"run{run.run_id}/{trial.scenario}/t{trial.number}"


def verdict_id(run: RunExport, trial: TrialExport, verdict: VerdictRecord) -> str:
    """Return the id of one ruling; judging again gives another."""
    return f"{trial_id(run, trial)}/{verdict.signal}/{verdict.index}/s{verdict.scoring}"


def claim_id(scenario: str, verdict: VerdictRecord) -> str:
    """Return the id of a claim: the same in all runs, trials and judgings, whatever place it has in the list."""
    print_ = hashlib.sha256(verdict.claim.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{scenario}/{verdict.signal}/{print_}"


def ruled_by(verdict: VerdictRecord) -> str:
    """Return who gave the ruling that counts: people, the judge, a rule; unknown for claims judged elsewhere."""
    return verdict.ruled_by or ("judge" if verdict.judge else "unknown" if verdict.signal == "nl_assertion" else "rule")


def is_rated(outcome: str) -> bool:
    """Return whether an outcome counts in pass / (pass + fail + stalled)."""
    return outcome in RATED


@dataclass
class Rate:
    """Outcomes counted one at a time; over nothing there is no rate."""

    outcomes: Counter[str] = field(default_factory=Counter)
    by_inaction: int = 0

    def add(self, trial: TrialExport) -> None:
        """Count a trial."""
        self.outcomes[trial.outcome or "none"] += 1
        self.by_inaction += trial.by_inaction

    @property
    def passed(self) -> int:
        """Return the numerator."""
        return self.outcomes["pass"]

    @property
    def rated(self) -> int:
        """Return the denominator."""
        return sum(count for outcome, count in self.outcomes.items() if is_rated(outcome))

    @property
    def left_out(self) -> dict[str, int]:
        """Return the outcomes that no rate counts."""
        return {outcome: count for outcome, count in sorted(self.outcomes.items()) if not is_rated(outcome)}

    @property
    def total(self) -> int:
        """Return how many trials there are."""
        return sum(self.outcomes.values())

    @property
    def value(self) -> float | None:
        """Return the pass rate."""
        return self.passed / self.rated if self.rated else None

    def facts(self) -> dict[str, Any]:
        """Return the figures with their denominators."""
        return {
            "pass_rate": self.value,
            "passed": self.passed,
            "rated": self.rated,
            "left_out": self.left_out,
            "passed_by_inaction": self.by_inaction,
        }
