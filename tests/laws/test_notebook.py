"""The notebook runs in a clean kernel, as Jupyter starts it, without ipywidgets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.waiting import PATIENCE

CELLS = {
    "widgets": """
import sys
sys.modules["ipywidgets"] = None  # as where it is not installed: importing it fails
""",
    "mode": """
from discreet import questions
questions.mode("visits.csv", column="code", candidates=["a", "b"], user="person", epsilon=1)
""",
    "median": """
questions.median("visits.csv", column="age", bounds=(0, 90), user="person", epsilon=1)
""",
    "ledger": """
from discreet import PureDP
from discreet.ledger import Ledger
with Ledger.open("budget.db") as ledger:
    ledger.create("visits", PureDP(3))
questions.mode("visits.csv", column="code", candidates=["a", "b"], user="person", epsilon=1,
               ledger="sqlite:///budget.db", dataset="visits")
""",
    "scores": """
from discreet import Scores
Scores({"secret label": 31337}, sensitivity=1)
""",
}


# In a separate process: the garbage collector closes the sockets to a kernel, which causes warnings.
RUNNER = """
import json, sys
import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

cells = [nbformat.v4.new_code_cell(source) for source in json.loads(sys.argv[1])]
notebook = nbformat.v4.new_notebook(cells=cells)
manager = AsyncKernelManager()
# Not by the name of an installed kernel: this interpreter is the one to test.
manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
patience = float(sys.argv[3])
client = NotebookClient(
    notebook, km=manager, timeout=patience, startup_timeout=patience, allow_errors=True
)
client.execute()
json.dump([cell.outputs for cell in notebook.cells], open(sys.argv[2], "w"))
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the output of each cell, as a saved notebook would store it."""
    folder = tmp_path_factory.mktemp("notebook")
    lines = [f"{number},{'ab'[number % 3 == 0]},{number % 90}" for number in range(300)]
    (folder / "visits.csv").write_text("\n".join(["person,code,age", *lines]) + "\n")
    command = [
        sys.executable,
        "-c",
        RUNNER,
        json.dumps(list(CELLS.values())),
        "shown.json",
        str(PATIENCE),
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
    shown = json.loads((folder / "shown.json").read_text())
    return {name: json.dumps(each) for name, each in zip(CELLS, shown, strict=True)}


def test_the_notebook_of_the_documentation_runs(tmp_path: Path) -> None:
    pages = Path(__file__).parents[2] / "docs" / "tutorials" / "first-answer.ipynb"
    cells = json.loads(pages.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    # Run all cells twice (without the audit the second time): the budget exists, and nothing is paid again.
    runs = json.dumps([*sources, *sources[:-1]])
    command = [sys.executable, "-c", RUNNER, runs, "shown.json", str(PATIENCE)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE)
    shown = json.loads((tmp_path / "shown.json").read_text())
    for source, outputs in zip([*sources, *sources[:-1]], shown, strict=True):
        kinds = [output["output_type"] for output in outputs]
        assert "error" not in kinds, source
    texts = [json.dumps(each, ensure_ascii=False) for each in shown]
    answer, left, history, verdict = texts[len(sources) - 4 : len(sources)]
    assert answer.count("changes the probability of any answer") == 2
    assert "ε = 1.5" in left
    assert (
        history.count("<tr>") == 1 + 1 + 2 * 2
    )  # the heading, the budget, two charges with their answers
    assert "refuted" in verdict
    again = [re.sub(r'"execution_count": \d+', "", text) for text in texts]
    assert again[-3:] == again[len(sources) - 4 : len(sources) - 1]


@pytest.mark.parametrize("question", ["mode", "median", "ledger"])
def test_questions_on_a_path_are_answered(outputs: dict[str, str], question: str) -> None:
    assert "changes the probability of any answer" in outputs[question]


def test_a_release_says_who_counts(outputs: dict[str, str]) -> None:
    assert "visits #2" in outputs["ledger"]


def test_scores_are_not_saved(outputs: dict[str, str]) -> None:
    assert "1 candidate" in outputs["scores"]
    assert "secret label" not in outputs["scores"]
    assert "31337" not in outputs["scores"]
