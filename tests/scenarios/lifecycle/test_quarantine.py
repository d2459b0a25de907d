"""What a process that died in the middle of a quarantine left undone is done by the next wake."""

import pytest

from scenarios.lifecycle import finish_quarantines
from scenarios.models import BatchItem, JudgeBatch, Run
from tests.factories import make_run
from tests.scenarios.lifecycle.test_rulings import judged_trial

pytestmark = pytest.mark.django_db


def judged_run(canaries: str) -> tuple[Run, JudgeBatch]:
    """Return a run of two passed calls whose batch was marked, and nothing more."""
    run = make_run(2, 1, ["pass"])
    batch = JudgeBatch.objects.create(kind="run", run=run, canaries=canaries)
    for trial in run.trials.all():
        judged_trial(trial, (True, True)).judgings.update(batch=batch)
    return run, batch


def outcomes(run: Run) -> list[str]:
    return list(run.trials.values_list("outcome", flat=True))


def test_a_quarantine_that_settled_nothing_is_finished() -> None:
    run, _ = judged_run("quarantined")
    assert len(finish_quarantines()) == 2
    assert outcomes(run) == ["judge_error", "judge_error"]
    assert finish_quarantines() == []


def test_a_release_that_settled_nothing_is_finished() -> None:
    run, batch = judged_run("quarantined")
    finish_quarantines()
    JudgeBatch.objects.filter(pk=batch.pk).update(canaries="released")
    assert len(finish_quarantines()) == 2
    assert outcomes(run) == ["pass", "pass"]
    assert finish_quarantines() == []


def test_a_batch_whose_canaries_are_all_in_is_decided() -> None:
    run, batch = judged_run("open")
    obeyed = {"canary": "a", "injection": "fake verdict", "holds": False, "ruled": True, "obeyed": True}
    BatchItem.objects.create(batch=batch, position=0, canary="a", state="done", rulings=[obeyed] * 16)
    finish_quarantines()
    batch.refresh_from_db()
    assert batch.canaries == "quarantined"
    assert outcomes(run) == ["judge_error", "judge_error"]


def test_a_batch_that_still_asks_is_left_alone() -> None:
    run, batch = judged_run("open")
    BatchItem.objects.create(batch=batch, position=0, canary="a", state="queued")
    assert finish_quarantines() == []
    batch.refresh_from_db()
    assert batch.canaries == "open"
    assert outcomes(run) == ["pass", "pass"]
