"""A judged run and two people who review it."""

import pytest
from django.contrib.auth.models import User

from scenarios.models import Run
from tests.factories import make_run
from tests.scenarios.lifecycle.test_rulings import judged_trial


@pytest.fixture
def run(db: None) -> Run:
    """Four calls with two claims each: the judge failed the second claim of each."""
    run = make_run(4, 1, ["fail"])
    for trial in run.trials.all():
        judged_trial(trial)
    return run


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def ben(db: None) -> User:
    return User.objects.create_user("ben")
