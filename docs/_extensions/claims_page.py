"""Write ``docs/claims.md``, and the record that the package ships, from the checks: ``make pages``.

Times are left out, so that the page changes only when a verdict does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from discreet.papers import CheckedClaim, Scope, all_claims, check, recorded
from discreet.papers.report import claims_markdown

PAGE = Path(__file__).parent.parent / "claims.md"
NOTE = """
Made by `make pages` from what `discreet claims --markdown` reports. Claims about measurements on the DPBench
data sets say "not checkable" here, because those files are not part of the project. With them,
`discreet claims --data FOLDER` checks these too.
"""


def page(results: Sequence[CheckedClaim]) -> str:
    """The page for a run of every check."""
    text = claims_markdown(results)
    text = re.sub(r"^- time: .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(\d+ claims) in [\d.]+ s:", r"\1:", text, flags=re.MULTILINE)
    title, rest = text.split("\n", 1)
    return f"{title}\n{NOTE}{rest}"


if __name__ == "__main__":
    found = list(check(all_claims(), Scope()))
    PAGE.write_text(page(found), encoding="utf-8")
    recorded.write(found)
