"""The project: one version, pages that exist, documented make targets, no paths of a local machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import discreet
from discreet import errors
from discreet.mechanisms import MECHANISMS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _tracked() -> list[Path]:
    """Return the files under version control; in a copy without it, the sources and the documents."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    kinds = (".py", ".md", ".toml", ".cff", ".yml", ".yaml", ".txt")
    rooms = [ROOT / name for name in ("src", "tests", "docs", "benchmarks")]
    return [p for room in rooms for p in room.rglob("*") if p.suffix in kinds]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # a picture or data


def _sources() -> list[Path]:
    return [p for p in _tracked() if p.suffix == ".py" and (ROOT / "src") in p.parents]


def test_there_is_one_version() -> None:
    version = PROJECT["version"]
    assert discreet.__version__ == version
    assert re.search(rf"^version: {re.escape(version)}$", _text(ROOT / "CITATION.cff"), re.M)
    assert f"## {version}" in _text(ROOT / "CHANGELOG.md")
    assert "### Privacy" in _text(ROOT / "CHANGELOG.md")


def test_make_has_the_two_commands_and_documents_all() -> None:
    makefile = _text(ROOT / "Makefile")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))
    assert targets >= {"help", "demo", "test", "lint", "types", "bench", "clean"}
    described = makefile.partition("help:")[2].partition("\n\n")[0]
    for target in targets - {"help"}:
        assert target in described, f"make help does not mention {target}"
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    assert set(phony.group(1).split()) >= targets
    assert "make test" in _text(ROOT / ".ci/run")
    assert "make demo" in _text(ROOT / "README.md")


def test_the_extra_all_installs_every_users_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    everything = " ".join(extras["all"])
    for extra in set(extras) - {"all", "test", "bench", "docs", "dev"}:
        named = re.search(rf"discreet\[[^]]*\b{re.escape(extra)}\b[^]]*\]", everything)
        assert named or set(extras[extra]) <= set(extras["all"]), extra


def test_every_hint_to_install_an_extra_comes_from_one_function() -> None:
    """Brackets need quotes in zsh, and cmd.exe accepts only double quotes."""
    for path in _sources():
        for quote, extra in re.findall(r"pip install \\?(.?)\.\[(\w+|\{extra\})\]", _text(path)):
            assert quote == '"', path
            assert extra in {*PROJECT["optional-dependencies"], "{extra}"}
        raised = re.search(r"raise MissingExtraError", _text(path))
        assert raised is None, f"{path}: missing_extra() words it"


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_names_a_proof_that_exists(name: str) -> None:
    proof = MECHANISMS[name](epsilon=1).proof
    assert proof.startswith("docs/proofs/")
    assert (ROOT / proof).is_file()


def test_every_page_named_in_the_code_exists() -> None:
    named = {
        (page, str(path.relative_to(ROOT)))
        for path in _sources()
        for page in re.findall(r"docs/[\w/.-]+\.md", _text(path))
    }
    missing = sorted((page, path) for page, path in named if not (ROOT / page).is_file())
    assert not missing


def test_every_proof_is_listed() -> None:
    index = _text(ROOT / "docs/proofs/README.md") + _text(ROOT / "docs/proofs/index.md")
    for page in (p for p in _tracked() if p.parent == ROOT / "docs/proofs"):
        if page.suffix == ".md" and page.stem not in ("README", "index"):
            assert page.stem in index, f"{page.name} is in no list of proofs"


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    # Split, so this file does not match itself.
    folders = "|".join(["wo" + "rk", "ro" + "ot", r"home/\w+", r"Users/\w+"])
    pattern = re.compile(rf"(?<![\w.:/~-])/(?:{folders})(?=/|\b[^\w-])")
    found = [
        (str(path.relative_to(ROOT)), match.group())
        for path in _tracked()
        for match in pattern.finditer(_text(path))
    ]
    assert not found


def test_no_unfinished_business() -> None:
    marks = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    for path in _tracked():
        if path.suffix in (".py", ".md", ".toml"):
            assert not marks.search(_text(path)), path.name


def test_every_error_derives_from_one_root() -> None:
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, BaseException):
            assert issubclass(error, errors.DiscreetError), name
            assert error.__doc__


def test_sources_raise_no_bare_builtin_errors_at_users() -> None:
    """The allowed builtin exceptions are those that Python itself expects."""
    expected = {"AttributeError", "TypeError", "KeyError", "AssertionError"}
    pattern = re.compile(r"\braise ([A-Z]\w*(?:Error|Exception))\b")
    ours = {name for name in vars(errors) if name.endswith("Error")}
    defined = re.compile(r"^class (\w+Error)\b", re.M)
    for path in _sources():
        ours |= set(defined.findall(_text(path)))
    for path in _sources():
        strangers = set(pattern.findall(_text(path))) - ours - expected
        assert not strangers, f"{path.name} raises {strangers}"


def speed_sentence() -> str:
    """Return the README's sentence about speed, from the recorded benchmark."""
    record = _text(ROOT / "benchmarks/results/select.md")
    section = record.partition("## n = 1,000,000\n")[2].partition("\n## ")[0].strip()
    head, _, *body = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
    ]
    rows = [dict(zip(head, row, strict=True)) for row in body]

    def ends(column: str) -> tuple[float, float]:
        figures = [float(row[column].replace(",", "")) for row in rows]
        return min(figures), max(figures)

    times, slower = ends("× `argmax`"), ends("OpenDP × ours")
    return (
        f"{times[0]:.1f} to {times[1]:.1f} times as long as `np.argmax`; OpenDP 0.16's selection takes "
        f"{slower[0]:,.0f} to {slower[1]:,.0f} times as long as ours"
    )


def test_the_speeds_in_the_readme_are_the_recorded_ones() -> None:
    assert speed_sentence() in " ".join(_text(ROOT / "README.md").split()), speed_sentence()
