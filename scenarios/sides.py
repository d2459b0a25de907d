"""The two ends of a call, spelled as in the benchmark files."""

from typing import Literal

Side = Literal["user", "agent"]
SIDES: tuple[Side, Side] = ("user", "agent")
