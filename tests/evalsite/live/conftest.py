"""A quiet hub and no open connection after each test."""

from collections.abc import AsyncIterator

import pytest
from django.db import connections

from evalsite.live import feeds
from tests.evalsite.live.sockets import in_db


@pytest.fixture(autouse=True)
async def hub_at_rest(transactional_db: None) -> AsyncIterator[None]:
    """Stop the tailer and close what an open socket left, so that nothing holds a database that is to be dropped."""
    yield
    feeds.hub.stop()
    await in_db(connections.close_all)()
