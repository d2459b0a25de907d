"""A real daphne on the test database and a real Chromium in front of it."""

import http.client
import os
import random
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
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from tests.conftest import ROOT

# Far more than anything takes on an idle machine: a test says that something comes, not how soon.
START_S = 120
EXPECT_MS = 30_000
PAGE_MS = 90_000
LAUNCH_MS = 180_000


@pytest.fixture(scope="session", autouse=True)
def database_beside_a_loop() -> Iterator[None]:
    """Playwright's own event loop runs in this thread, which Django would take for an async view."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Let every ``expect`` of these tests wait long enough for a machine that has much else to do."""
    expect.set_options(timeout=EXPECT_MS)
    yield
    expect.set_options(timeout=None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start Debian's Chromium, quietly and without a sandbox (tests run as root)."""
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"]
    still = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return {**browser_type_launch_args, "executable_path": path, "args": quiet + still, "timeout": LAUNCH_MS}


@pytest.fixture(scope="session")
def base_url() -> None:
    """Stand in for the plugin's own fixture, whose form pytest 10 will refuse; our tests open whole addresses."""


@pytest.fixture
def new_context(new_context: Callable[..., BrowserContext]) -> Callable[..., BrowserContext]:
    """Return a maker of browsers without a past, as patient as ``expect``; ``context`` is one of them."""

    def make(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PAGE_MS)
        context.set_default_navigation_timeout(PAGE_MS)
        return context

    return make


def free_port() -> int:
    """Return a port that nothing else takes meanwhile: below those that the system gives to outgoing connections.

    From among these a connection to our own server, while it is down, could even be given the server's port and
    answer itself.
    """
    for _ in range(1_000):
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port from 20000 to 29999 is free")


class Site:
    """The web server as a process of its own: it can be killed and started again on the same port."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # A socket that waits for its turn on a busy machine is no error: daphne's own limit is 5 s.
        listen = ["-b", "127.0.0.1", "-p", str(self.port), "--websocket_connect_timeout", str(START_S)]
        command = [sys.executable, "-m", "daphne", *listen, "evalsite.asgi:application"]
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
        except (OSError, http.client.HTTPException):
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
    # A socket that the page itself gave up before it was open: the page was left, or the server was silent for long.
    expected: list[str] = field(
        default_factory=lambda: [
            "^htmx:(sendAbort|afterRequest),",
            "^WebSocket connection to .* failed: WebSocket is closed before the connection is established",
        ]
    )

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

    def watch(self, page: Page) -> None:
        """Keep what goes wrong on a page from now on."""
        page.on("console", self.note)
        page.on("pageerror", lambda error: self.seen.append(str(error)))

    @property
    def unexpected(self) -> list[str]:
        """Return what no test expected."""
        return [text for text in self.seen if not any(re.search(pattern, text) for pattern in self.expected)]


@pytest.fixture
def complaints(context: BrowserContext) -> Iterator[Complaints]:
    """Watch the console of every page of the test, and fail when it holds an error that was not expected."""
    complaints = Complaints()
    context.on("page", complaints.watch)
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


def expect_address(page: Page, end: str) -> None:
    """Wait until the address of the page ends so; what a script writes there arrives a moment later."""
    expect(page).to_have_url(re.compile(f"{re.escape(end)}$"))


def expect_pointed(page: Page, place: str) -> None:
    """Wait until this row is the marked one, and the only one."""
    expect(page.locator(".pointed")).to_have_id(place)


def expect_no_wider(page: Page) -> None:
    """Wait until the page, once it is all there, is no wider than its window."""
    page.wait_for_load_state("load")
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
