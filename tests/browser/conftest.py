"""A real daphne on the test database and a real Chromium in front of it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.conftest import ROOT

START_S = 30


@pytest.fixture(scope="session", autouse=True)
def database_beside_a_loop() -> Iterator[None]:
    """Playwright's own event loop runs in this thread, which Django would take for an async view."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start Debian's Chromium, quietly and without a sandbox (tests run as root)."""
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"]
    still = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return {**browser_type_launch_args, "executable_path": path, "args": quiet + still}


@pytest.fixture(scope="session")
def base_url() -> None:
    """Stand in for the plugin's own fixture, whose form pytest 10 will refuse; our tests open whole addresses."""


class Site:
    """The web server as a process of its own: it can be killed and started again on the same port."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port), "evalsite.asgi:application"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_S
        while not self._answers():
            if self.process.poll() is not None:
                raise RuntimeError(f"daphne ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"daphne did not answer within {START_S} s")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/sign-in/", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill the server as a crash does; safe to repeat."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture(scope="session")
def server(django_db_setup: None) -> Iterator[Site]:
    """Return the one server of these tests, not started yet; it is gone before the test database is dropped."""
    site = Site()
    yield site
    site.kill()


@pytest.fixture
def site(server: Site, server_environment: dict[str, str]) -> Site:
    """Return the running site on the test database; a test that killed it need not start it again."""
    if server.process is None:
        server.environment = server_environment
        server.start()
    return server


@dataclass
class Complaints:
    """What a browser complained about; none is expected but what a test names."""

    seen: list[str] = field(default_factory=list)
    # A page that is left aborts what it was asking for, and htmx logs that; a failed request logs another event beside.
    expected: list[str] = field(default_factory=lambda: ["^htmx:(sendAbort|afterRequest),"])

    def expect(self, pattern: str) -> None:
        """Let complaints pass that match."""
        self.expected.append(pattern)

    def expect_outage(self) -> None:
        """Let pass what a browser says when the server dies, whatever each of its connections was doing then."""
        self.expect("^WebSocket connection to |^Failed to load resource: net::ERR_|^htmx:")

    def note(self, message: ConsoleMessage) -> None:
        """Keep an error or a warning of the console, a violated content policy among them."""
        if message.type in ("error", "warning"):
            self.seen.append(message.text)

    @property
    def unexpected(self) -> list[str]:
        """Return what no test expected."""
        return [text for text in self.seen if not any(re.search(pattern, text) for pattern in self.expected)]


@pytest.fixture
def complaints(context: BrowserContext) -> Iterator[Complaints]:
    """Watch the console of every page of the test, and fail when it holds an error that was not expected."""
    complaints = Complaints()

    def watch(page: Page) -> None:
        page.on("console", complaints.note)
        page.on("pageerror", lambda error: complaints.seen.append(str(error)))

    context.on("page", watch)
    yield complaints
    assert complaints.unexpected == []


@pytest.fixture
def open_as(site: Site, context: BrowserContext, complaints: Complaints) -> Callable[[User, str], Page]:
    """Return an opener of pages: ``open_as(user, "/live/")`` is a tab of a browser in which ``user`` is signed in."""

    def open_as(user: User, path: str) -> Page:
        client = Client()
        client.force_login(user)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.url}])
        page = context.new_page()
        page.goto(site.url + path)
        return page

    return open_as
