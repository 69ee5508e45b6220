"""Configuration of the documentation site: ``make docs`` builds it into ``docs/_build/html``."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.ext.napoleon import GoogleDocstring

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "discreet"
author = "The discreet developers"
copyright = "2026, The discreet developers"  # noqa: A001  # Sphinx names it so

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",
    "command_line",
    "reference_pages",
    "outputs",
    "number_columns",
    "cards",
    "search_words",
    "shown_pictures",
]
man_pages = [("command-line", "discreet", "differentially private selection", author, 1)]
smartquotes_action = "qe"  # without "D": two hyphens begin an option, not a dash
html_theme = "furo"
html_title = "discreet"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_search_scorer = str(Path(__file__).parent / "_extensions" / "scorer.js")
html_css_files = ["discreet.css"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_dmath_double_inline = True  # displayed formulas may end a sentence
myst_heading_anchors = 3
autodoc_typehints = "description"
autosummary_generate = False  # reference_pages writes the pages
autodoc_member_order = "bysource"
# proofs/README.md is for readers of the repository; proofs/index.md includes it here.
exclude_patterns = ["_build", "_extensions", "man", "proofs/README.md"]

# Napoleon would read a property's "The scores: a list" as a type and its explanation.
GoogleDocstring._parse_attribute_docstring = GoogleDocstring._consume_to_end
