"""Configuration of the documentation site: ``make docs`` builds it into ``docs/_build/html``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "discreet"
author = "The discreet developers"
copyright = "2026, The discreet developers"  # noqa: A001  # Sphinx names it so

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
]
html_theme = "furo"
html_title = "discreet"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["discreet.css"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_dmath_double_inline = True  # displayed formulas may end a sentence
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
exclude_patterns = ["_build", "_extensions", "man"]
nitpicky = False
