"""One walk over paths of all kinds: runs, refusals, and a line for everything that was passed over."""

import shutil
import zipfile
from pathlib import Path

import pytest

from scenarios.formats.imports.everything import Found, open_all
from tests.scenarios.formats.imports import folders
from tests.scenarios.formats.imports.files import real, results, simulation, write


def walked(*paths: Path) -> list[tuple[str, str, str]]:
    """Return place, kind, and format or reason of all that is found; every run is read to its end."""
    return [(one.place, one.kind, _what(one)) for one in open_all(paths)]


def _what(found: Found) -> str:
    if found.run is None:
        return found.why
    return f"{found.run.format} {sum(1 for _ in found.run.trials())}"


def test_everything_under_a_folder_is_found_once(tmp_path: Path) -> None:
    write(tmp_path, results([simulation()]), "a/results.json")
    write(tmp_path, results([simulation(), simulation()]), "a/more.json.gz")
    folders.reference_run(tmp_path / "b" / "eval_1")
    folders.eva_run(tmp_path / "b" / "eva")
    folders.inspect_zip(tmp_path / "c.eval")
    folders.put(
        tmp_path, {"readme.md": "# Hi", "d/cut.json": b'{"timestamp": "2025", "simu', "d/other.json": {"name": 1}}
    )
    (tmp_path / "empty").mkdir()
    head = {name: value for name, value in results([]).items() if name != "simulations"}
    write(tmp_path, head, "dir/results.json")
    write(tmp_path, simulation(), "dir/simulations/s1.json")

    found = walked(tmp_path)

    assert [(place, kind, what) for place, kind, what in found if kind == "run"] == [
        ("a/more.json.gz", "run", "tau2 2"),
        ("a/results.json", "run", "tau2 1"),
        ("b/eva", "run", "eva 1"),
        ("b/eval_1", "run", "reference 1"),
        ("c.eval", "run", "inspect 1"),
        ("dir", "run", "tau2_directory 1"),
    ]
    others = {place: (kind, what) for place, kind, what in found if kind != "run"}
    assert others.keys() == {"readme.md", "d/cut.json", "d/other.json", "empty"}
    assert others["d/cut.json"][0] == "refused"
    assert "the JSON breaks off" in others["d/cut.json"][1]
    assert others["d/other.json"][0] == "passed_over"
    assert "found: name" in others["d/other.json"][1]
    assert others["readme.md"] == ("passed_over", "no file that can hold a run")
    assert others["empty"] == ("passed_over", "the folder is empty")


def test_what_an_operating_system_lays_beside_files_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, results([simulation()]), "run/results.json")
    write(tmp_path, b"\0\5\x16\7", "run/._results.json")
    write(tmp_path, b"\0\5\x16\7", "__MACOSX/run/._results.json")

    assert [(place, kind) for place, kind, _ in walked(tmp_path)] == [
        ("__MACOSX", "passed_over"),
        ("run/._results.json", "passed_over"),
        ("run/results.json", "run"),
    ]


def test_what_is_given_by_name_is_tried_and_refused_with_a_remedy(tmp_path: Path) -> None:
    run = write(tmp_path, results([simulation()]), "results.txt")
    stranger = write(tmp_path, {"name": 1}, "other.json")
    missing = tmp_path / "nothing"

    found = walked(run, stranger, missing)

    assert [(kind, what[:40]) for _, kind, what in found] == [
        ("run", "tau2 1"),
        ("refused", "top level: this is no format that can be"),
        ("refused", "path: there is no such file. Check the p"),
    ]
    assert [one.name for one in open_all([missing])] == [str(missing)]


def packed(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder.parent))
    return path


@pytest.mark.parametrize("build", [folders.reference_run, folders.eva_run])
def test_a_packed_run_is_the_same_run(tmp_path: Path, build: object) -> None:
    assert callable(build)
    root = build(tmp_path / "eval_1")
    path = packed(root, tmp_path / "upload.zip")
    (folder,) = open_all([root])
    (archive,) = open_all([path])

    assert archive.place == "!" or archive.place == "!/eval_1"
    assert folder.run is not None
    assert archive.run is not None
    assert archive.run.source.content_sha256 == folder.run.source.content_sha256


def test_what_was_unpacked_is_read_while_it_lasts_and_gone_after(tmp_path: Path) -> None:
    path = packed(folders.reference_run(tmp_path / "eval_1"), tmp_path / "upload.zip")
    places = []
    for found in open_all([path]):
        assert found.run is not None
        assert [trial.task_id for trial in found.run.trials()] == ["tau2_retail__24"]
        places.append(found.run.source.path)

    assert len(places) == 1
    assert not places[0].exists()


def test_archives_within_archives_and_bombs_are_not_unpacked(tmp_path: Path) -> None:
    inner = packed(folders.reference_run(tmp_path / "x" / "eval_1"), tmp_path / "x" / "inner.zip")
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(inner, "deep/inner.zip")
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * 80_000_000)

    (nested,) = open_all([outer])
    assert (nested.place, nested.kind) == ("!/deep/inner.zip", "passed_over")
    assert "an archive within an archive" in nested.why
    (refused,) = open_all([bomb])
    assert refused.kind == "refused"
    assert "unpacks to more than 400 times its size" in refused.why


def test_links_to_folders_and_endless_depth_are_passed_over(tmp_path: Path) -> None:
    root = tmp_path / "root"
    folders.reference_run(root / "eval_1")
    (root / "loop").symlink_to(root)
    deep = root
    for _ in range(25):
        deep = deep / "d"
    folders.put(deep, {"x.json": {}})

    found = walked(root)

    assert ("loop", "passed_over", "a link to a folder; give the folder itself") in found
    assert found[0][2] == "more than 20 folders deep"
    assert [what for _, kind, what in found if kind == "run"] == ["reference 1"]


def test_the_stored_trajectories_are_all_read_or_named(tmp_path: Path) -> None:
    for name in ("inspect-ai", "servicenow-eva", "whissle-tau2-bench"):
        shutil.copytree(real(name), tmp_path / name)

    found = list(open_all([tmp_path]))

    kinds = [one.run.format if one.run else one.kind for one in found]
    assert {kind: kinds.count(kind) for kind in kinds} == {"inspect": 13, "eva": 1, "tau2": 1, "passed_over": 4}
