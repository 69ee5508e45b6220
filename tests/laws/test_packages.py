"""The sdist and the wheel: built, checked, complete, and tried in a clean environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.tools.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
REQUIRED = bool(os.environ.get("DISCREET_REQUIRE_SERVICES"))


def _run(*command: object, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= variables
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def _absent(message: str) -> None:
    if REQUIRED:
        pytest.fail(message)
    pytest.skip(message)


def _tracked(*under: str) -> list[str]:
    listed = _run("git", "ls-files", *under)
    if listed.returncode:
        pytest.skip("not a checkout: there is no list of files to compare with")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel built from it."""
    for name in ("build", "twine", "setuptools"):
        if find_spec(name) is None:
            _absent(f"{name} is not installed: the packages are not built")
    folder = tmp_path_factory.mktemp("packages")
    source = folder / "source"
    # From tracked files only, so no stray file is packed.
    for name in _tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    _build(source, folder)
    return folder


def _build(source: Path, target: Path, *what: str) -> None:
    built = _run(
        sys.executable, "-m", "build", *what, "--no-isolation", "--outdir", target, source,
        SOURCE_DATE_EPOCH="1790000000",
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr


def test_there_are_two_packages_and_their_descriptions_render(packages: Path) -> None:
    files = sorted(packages.glob("discreet-*"))
    assert {path.suffix for path in files} == {".whl", ".gz"}
    checked = _run(sys.executable, "-m", "twine", "check", "--strict", *files)
    assert checked.returncode == 0, checked.stdout


def test_the_wheel_has_every_file_of_the_package(packages: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("discreet/")}
    assert packed == {name.removeprefix("src/") for name in _tracked("src/discreet")}


def test_a_wheel_that_is_built_twice_is_equal_byte_by_byte(packages: Path, tmp_path: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    shutil.copytree(packages / "source", tmp_path / "source")
    for path in (tmp_path / "source").rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    _build(tmp_path / "source", tmp_path, "--wheel")
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_wheel_works_in_a_clean_environment(packages: Path, tmp_path: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    _run(sys.executable, "-m", "venv", tmp_path / "clean")
    python = tmp_path / "clean" / "bin" / "python"
    quiet = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")
    installed = _run(python, *quiet, wheel)
    if installed.returncode:
        _absent("what discreet depends on cannot be had here: the wheel is not installed")
    tried = _run(python, ROOT / ".github" / "try_installed.py", cwd=tmp_path)
    assert tried.returncode == 0, tried.stderr
    assert "discreet.diffprivlib: there" in tried.stdout
    assert "proof: permute-and-flip.md" in tried.stdout
    assert 'pip install ".[' in tried.stdout  # a missing extra is named
    assert _run(python, "-m", "discreet", "demo", cwd=tmp_path).returncode == 0
