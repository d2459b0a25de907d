"""Serve one side of calls on its own: an external party with any OpenAI-compatible model."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from scenarios.sides import SIDES


class Command(BaseCommand):
    """``serve_party --side agent --port N --model M --base-url URL [--key-env NAME]``; until SIGTERM or Ctrl-C."""

    help = (
        "Serve an agent or a caller on a socket of its own, as an external party whose tools run with Callboard "
        "(docs/external-agents.md). Prints the address to enter in a profile."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Which side, where, with which model."""
        parser.add_argument("--side", choices=SIDES, required=True, help="agent, or user for a caller")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
        parser.add_argument("--model", required=True, help="name of the model")
        parser.add_argument("--base-url", required=True, help="where it is served, such as https://api.openai.com/v1")
        parser.add_argument("--key-env", default="", metavar="NAME", help="variable of this process with its key")

    def handle(self, *args: Any, **options: Any) -> None:
        """Become the party server: the site itself never loads pipecat."""
        names = ("side", "host", "port", "model", "base_url", "key_env")
        given = [f"--{name.replace('_', '-')}={options[name]}" for name in names]
        os.execv(sys.executable, [sys.executable, "-m", "bots.party.server", *given])  # noqa: S606  (ourselves)
