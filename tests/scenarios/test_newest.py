"""Of a call that was scored more than once, the newest scoring counts."""

import pytest

from scenarios.models import Verdict
from scenarios.newest import newest, newest_claims
from tests.factories import make_run
from tests.scenarios.lifecycle.test_rulings import judged_trial

pytestmark = pytest.mark.django_db


def test_each_call_by_its_own_newest_scoring() -> None:
    run = make_run(2, 1, ["fail"])
    first, second = (judged_trial(trial) for trial in run.trials.all())
    for verdict in list(first.verdicts.all()):
        verdict.pk, verdict.scoring = None, 2
        verdict.save()
    Verdict.objects.create(trial=second, scoring=3, signal="db_state_assertion", index=1, claim="x", passed=True)

    assert [row.scoring for row in newest(first.verdicts.all())] == [2, 2]
    assert newest(Verdict.objects.none()) == []
    found = newest_claims().order_by("trial_id", "index").values_list("trial_id", "scoring", "index")
    # A later scoring of another signal does not take the claims away.
    assert list(found) == [(first.pk, 2, 1), (first.pk, 2, 2), (second.pk, 1, 1), (second.pk, 1, 2)]
