"""Workflows, templates and hooks cannot run here; check their form, and that what they call exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(
    set((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"}
)

_STEP = {
    "type": "object",
    "oneOf": [{"required": ["run"]}, {"required": ["uses"]}],
    "properties": {
        "name": {"type": "string"},
        "run": {"type": "string"},
        # A version, or the name of a stable branch.
        "uses": {"type": "string", "pattern": r"^[\w.-]+/[\w./-]+@(v\d+|release/v\d+)$"},
        "with": {"type": "object"},
        "env": {"type": "object"},
    },
    "additionalProperties": False,
}
_PERMISSIONS = {"type": "object", "additionalProperties": {"enum": ["read", "write", "none"]}}
_WORKFLOW = {
    "type": "object",
    "required": ["name", "on", "permissions", "jobs"],
    "properties": {
        "name": {"type": "string"},
        "on": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"enum": ["push", "pull_request", "schedule", "workflow_dispatch"]},
        },
        "permissions": _PERMISSIONS,
        "jobs": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "object",
                # A stuck job without a limit runs for six hours.
                "required": ["runs-on", "timeout-minutes", "steps"],
                "properties": {
                    "runs-on": {"const": "ubuntu-24.04"},
                    "container": {"const": "debian:bookworm"},
                    "timeout-minutes": {"type": "integer", "maximum": 90},
                    "needs": {"type": "string"},
                    "environment": {"type": "string"},
                    "permissions": _PERMISSIONS,
                    "strategy": {"type": "object", "required": ["matrix"]},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}},
                    "steps": {"type": "array", "minItems": 1, "items": _STEP},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
_FORM = {
    "type": "object",
    "required": ["name", "description", "body"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "body": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["type", "attributes"],
                "properties": {
                    "type": {"enum": ["markdown", "input", "textarea"]},
                    "id": {"type": "string", "pattern": r"^\w+$"},
                    "attributes": {"type": "object"},
                    "validations": {"type": "object"},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}


def _read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    if True in found:  # YAML 1.1 reads the bare word `on` as true; GitHub does not
        found["on"] = {name: value or {} for name, value in found.pop(True).items()}
    return found


def _targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_right_form_and_calls_what_exists(path: Path) -> None:
    workflow = _read(path)
    Draft202012Validator(_WORKFLOW).validate(workflow)
    for job in workflow["jobs"].values():
        assert job.get("needs", next(iter(workflow["jobs"]))) in workflow["jobs"]
        known = {f"matrix.{name}" for name in job.get("strategy", {}).get("matrix", {})}
        assert set(re.findall(r"\$\{\{ !?([\w.]+) \}\}", yaml.safe_dump(job))) <= known
        for step in job["steps"]:
            for target in re.findall(r"^make ([a-z-]+)", step.get("run", ""), re.M):
                assert target in _targets(), target
            for script in re.findall(r"\.github/[\w./]+", step.get("run", "")):
                assert (ROOT / script).is_file(), script


def test_the_versions_that_are_claimed_are_those_that_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    claimed = {
        found.group(1)
        for line in project["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    }
    jobs = _read(GITHUB / "workflows/tests.yml")["jobs"]
    for name in ("full", "minimal"):
        assert set(jobs[name]["strategy"]["matrix"]["python"]) == claimed
    for page in ("README.md", "CONTRIBUTING.md", "Makefile", "docs/start.md", "docs/install.md"):
        named = re.findall(
            r"Python (3\.\d+), (3\.\d+) or (3\.\d+)", (ROOT / page).read_text("utf-8")
        )
        assert [set(versions) for versions in named] == [claimed], page
    # Any other step that sets up Python uses a claimed version.
    for path in WORKFLOWS:
        for job in _read(path)["jobs"].values():
            for step in job["steps"]:
                version = step.get("with", {}).get("python-version", "3.11")
                assert version in claimed or "matrix" in version


def test_nothing_is_published_but_by_a_tag_from_a_protected_environment() -> None:
    for path in WORKFLOWS:
        workflow = _read(path)
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            if "permissions" in job:
                assert path.stem == "release"
                assert set(workflow["on"]) == {"push"}
                assert set(workflow["on"]["push"]) == {"tags"}
                assert job["environment"] == "release"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_the_right_form(path: Path) -> None:
    form = _read(path)
    Draft202012Validator(_FORM).validate(form)
    fields = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(fields) == len(set(fields)) >= 2
    for part in form["body"]:
        assert ("value" if part["type"] == "markdown" else "label") in part["attributes"]


def test_there_is_a_form_for_each_kind_of_report() -> None:
    assert {path.stem for path in FORMS} == {"bug", "wrong_guarantee", "new_mechanism"}
    assert "make test" in (GITHUB / "PULL_REQUEST_TEMPLATE.md").read_text("utf-8")


def test_the_hooks_before_a_commit_are_those_of_the_makefile() -> None:
    hooks = _read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    ours = {hook["entry"].removeprefix(".venv/bin/").split()[0] for hook in hooks}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    theirs = re.search(r"^lint:.*?^docs:", makefile, re.M | re.S)
    assert theirs is not None
    assert ours == set(re.findall(r"\$\(BIN\)/(\w+)", theirs.group()))
