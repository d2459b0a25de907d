"""A child process for tests of the supervisor: ``child.py FILE [PORT] [--deaf] [--fork]`` writes its pid to FILE."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

path, *rest = sys.argv[1:]
if "--deaf" in rest:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "--fork" in rest and os.fork() == 0:
    path += ".child"
with Path(path).open("a") as file:
    file.write(f"{os.getpid()}\n")
if "--fail" in rest:
    sys.exit(3)
ports = [int(word) for word in rest if word.isdigit()]
listeners = [socket.create_server(("127.0.0.1", port)) for port in ports]
while True:
    time.sleep(60)
