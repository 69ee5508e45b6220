"""Write ``docs/claims.md`` from the checks themselves: ``make pages``.

Times are left out, so that the page changes only when a verdict does.
"""

from __future__ import annotations

import re
from pathlib import Path

from discreet.claims import Settings, all_claims, run
from discreet.claims.report import markdown

PAGE = Path(__file__).parent.parent / "claims.md"
NOTE = """
Made by `make pages` from what `discreet claims --markdown` reports. Claims about measurements on the DPBench
data sets say "not checkable" here, because those files are not part of the project. With them,
`discreet claims --data FOLDER` checks these too.
"""


def page() -> str:
    """Run every check and give the page."""
    text = markdown(list(run(all_claims(), Settings())))
    text = re.sub(r"^- time: .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(\d+ claims) in [\d.]+ s:", r"\1:", text, flags=re.MULTILINE)
    title, rest = text.split("\n", 1)
    return f"{title}\n{NOTE}{rest}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
