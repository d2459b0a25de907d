"""A quiet hub before and after each test."""

from collections.abc import Iterator

import pytest

from evalsite.live import feeds


@pytest.fixture(autouse=True)
def hub_at_rest(transactional_db: None) -> Iterator[None]:
    """Stop the tailer after the test, so that it holds no connection to a database that is to be dropped."""
    yield
    feeds.hub.stop()
