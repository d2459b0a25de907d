import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evalsite.fetching import Folder, Package, Unavailable, Upstream, fetch
from scenarios.benchmarks.pins import Pin, Wheel

POLICY = b"Be kind.\n"


def pin(content: bytes = POLICY, wheel: str | None = "toy") -> Pin:
    return Pin("toy/policy.md", len(content), hashlib.sha256(content).hexdigest(), "policy.md", wheel=wheel)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A real wheel in a folder that pip is set up to look in, and nowhere else."""
    index = tmp_path / "index"
    index.mkdir()
    path = index / "toy_bench-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy_bench/data/policy.md", POLICY)
        archive.writestr("toy_bench-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-bench\nVersion: 1.0\n")
        archive.writestr(
            "toy_bench-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("toy_bench-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    content = path.read_bytes()
    return Wheel("toy", "toy-bench==1.0", len(content), hashlib.sha256(content).hexdigest(), "toy_bench/data")


class TestPackage:
    def test_pip_brings_the_wheel_once(self, wheel: Wheel, tmp_path: Path) -> None:
        cache = tmp_path / "cache"

        assert Package(wheel, cache).content(pin()) == POLICY

        (tmp_path / "index" / "toy_bench-1.0-py3-none-any.whl").unlink()
        assert Package(wheel, cache).content(pin()) == POLICY

    def test_a_wheel_with_another_hash_is_refused_by_pip(self, wheel: Wheel, tmp_path: Path) -> None:
        other = Wheel("toy", wheel.requirement, wheel.bytes, "0" * 64, wheel.folder)

        with pytest.raises(Unavailable, match="package toy-bench==1.0"):
            Package(other, tmp_path / "cache").content(pin())

    def test_an_index_that_does_not_have_it_is_asked_once(self, wheel: Wheel, tmp_path: Path) -> None:
        package = Package(Wheel("toy", "toy-bench==9.9", 1, wheel.sha256, wheel.folder), tmp_path / "cache")

        with pytest.raises(Unavailable, match="toy-bench==9.9") as first:
            package.content(pin())
        (tmp_path / "index" / "toy_bench-1.0-py3-none-any.whl").unlink()
        with pytest.raises(Unavailable) as second:
            package.content(pin())

        assert str(second.value) == str(first.value)

    def test_a_damaged_cached_wheel_is_downloaded_again(self, wheel: Wheel, tmp_path: Path) -> None:
        cache = tmp_path / "cache"
        Package(wheel, cache).content(pin())
        (cached,) = cache.iterdir()
        cached.write_bytes(b"cut off")

        assert Package(wheel, cache).content(pin()) == POLICY

    def test_a_member_that_is_not_there_is_named(self, wheel: Wheel, tmp_path: Path) -> None:
        absent = Pin("toy/db.json", 1, "", "db.json", wheel="toy")

        with pytest.raises(Unavailable, match="toy/db.json cannot be made from it"):
            Package(wheel, tmp_path / "cache").content(absent)

    def test_a_file_of_another_wheel_is_not_looked_for(self, wheel: Wheel, tmp_path: Path) -> None:
        with pytest.raises(Unavailable, match="does not carry toy/policy.md"):
            Package(wheel, tmp_path / "cache").content(pin(wheel="other"))


@pytest.fixture
def repository() -> Iterator[str]:
    """An HTTP server with one file."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/toy/policy.md"
            self.send_response(200 if found else 404)
            self.end_headers()
            if found:
                self.wfile.write(POLICY)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class TestUpstream:
    def test_a_file_is_read(self, repository: str) -> None:
        assert Upstream(repository).content(pin()) == POLICY

    def test_a_file_that_is_not_there_does_not_rule_out_the_others(self, repository: str) -> None:
        upstream = Upstream(repository)

        with pytest.raises(Unavailable, match="/toy/none.md: 404"):
            upstream.content(Pin("toy/none.md", 1, "", "none.md"))

        assert upstream.content(pin()) == POLICY

    def test_a_dead_host_is_tried_once(self) -> None:
        upstream = Upstream("http://127.0.0.1:1")

        for _ in range(2):
            with pytest.raises(Unavailable, match="repository http://127.0.0.1:1 cannot be reached"):
                upstream.content(pin())

    def test_no_more_than_the_pinned_size_is_read(self, repository: str) -> None:
        small = Pin("toy/policy.md", 2, "", "policy.md")

        assert Upstream(repository).content(small) == POLICY[:3]


class TestFetch:
    def source(self, tmp_path: Path, name: str, content: bytes | None) -> Folder:
        folder = tmp_path / name
        (folder / "toy").mkdir(parents=True)
        if content is not None:
            (folder / "toy/policy.md").write_bytes(content)
        return Folder(folder)

    def test_the_first_source_with_the_pinned_bytes_wins(self, tmp_path: Path) -> None:
        sources = [
            self.source(tmp_path, "empty", None),
            self.source(tmp_path, "wrong", b"Be rude.\n"),
            self.source(tmp_path, "right", POLICY),
        ]

        (got,) = fetch([pin()], tmp_path / "into", sources)

        assert (got.state, got.source) == ("fetched", f"folder {tmp_path / 'right'}")
        assert "No such file" in got.problems[0]
        assert got.problems[1].startswith(f"refused from folder {tmp_path / 'wrong'}: toy/policy.md: expected sha256")
        assert (tmp_path / "into/toy/policy.md").read_bytes() == POLICY

    def test_what_is_right_already_asks_nobody(self, tmp_path: Path) -> None:
        sources = [self.source(tmp_path, "right", POLICY)]
        list(fetch([pin()], tmp_path / "into", sources))

        (again,) = fetch([pin()], tmp_path / "into", [])

        assert again.state == "present"

    def test_a_damaged_file_is_replaced(self, tmp_path: Path) -> None:
        damaged = self.source(tmp_path, "into", b"Be ")

        (got,) = fetch([pin()], damaged.path, [self.source(tmp_path, "right", POLICY)])

        assert got.state == "fetched"
        assert (damaged.path / "toy/policy.md").read_bytes() == POLICY

    def test_a_file_that_nobody_has_does_not_stop_the_rest(self, tmp_path: Path) -> None:
        absent = Pin("toy/db.json", 1, "0" * 64, "db.json")
        heard: list[str] = []

        first, second = fetch(
            [absent, pin()], tmp_path / "into", [self.source(tmp_path, "a", POLICY)], lambda pin: heard.append(pin.path)
        )

        assert (first.state, second.state) == ("missing", "fetched")
        assert heard == ["toy/db.json", "toy/policy.md"]
