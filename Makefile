# Two commands are enough on a fresh machine with Python 3.11, 3.12 or 3.13 and make: `make demo` and `make test`.
PYTHON ?= python3
# A Python that is named, as in `make test PYTHON=python3.13`, gets an environment of its own beside .venv.
ifeq ($(origin PYTHON),file)
VENV := .venv
else
VENV := build/$(shell $(PYTHON) -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
endif
BIN = $(VENV)/bin
# Modules are compiled once and kept, whatever the shell says: else each process of the tests compiles all it imports.
export PYTHONDONTWRITEBYTECODE :=
# Not compiled beforehand: of what is installed little is imported.
PIP = $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
# Files in their order, of which the last are small pages: no worker waits long for the other.
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help demo demo-desk test tests quick quick-tests lowest lint types docs man pages proofs coverage package bench bench-large mutants clean

help:
	@echo "make demo         set up, then show one private selection from end to end"
	@echo "make demo-desk    set up, then serve the invented clinic to two analysts, and open the page"
	@echo "make test         set up, then run every test, lint and type check"
	@echo "make quick        lint, types and the tests of tests/quick.txt, which touch every room: about a minute"
	@echo "make tests        only the tests of make test"
	@echo "make quick-tests  only the tests of make quick, as for another Python: make quick-tests PYTHON=python3.13"
	@echo "make lowest       the tests of tests/quick.txt with the lowest versions that pyproject.toml allows"
	@echo "make lint types   only the linter and the spelling, only the type checker"
	@echo "make docs         build the documentation site into docs/_build/html"
	@echo "make man          build the manual page, docs/_build/man/discreet.1"
	@echo "make pages        check every claim again and redraw the pictures of the documentation"
	@echo "make proofs       have Coq check the theorems of proofs/ (says what to install if it is absent)"
	@echo "make coverage     run the tests and report which lines they reach, into build/coverage"
	@echo "make package      build sdist and wheel, check them, try the wheel in a clean environment, list what it brings along"
	@echo "make bench        the benchmarks, at sizes that take a few minutes"
	@echo "make bench-large  the benchmarks at full size"
	@echo "make mutants      plant small defects and see whether the tests notice; continues where it ended (benchmarks/mutants.py)"
	@echo "make clean        remove the virtual environments and what was built"
	@echo "With PYTHON=python3.13 each of these uses that Python, in an environment of its own under build/."

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

# A stamp per set of extras: reinstalled only when pyproject.toml changes.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[test]"
	@touch $@ $(VENV)/.demo $(VENV)/.desk $(VENV)/.docs

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[docs]"
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@$(BIN)/discreet demo

$(VENV)/.desk: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[desk]"
	@touch $@ $(VENV)/.demo

demo-desk: $(VENV)/.desk
	@$(BIN)/discreet desk demo

# The linter takes seconds, so it comes first; the type checker uses one core, so the tests run beside it.
test: lint
	@$(MAKE) --no-print-directory --jobs=2 types tests

tests: $(VENV)/.test
	$(PYTEST)

# Spark alone takes longer than the rest together.
quick: lint
	@$(MAKE) --no-print-directory --jobs=2 types quick-tests CHOSEN='-k "not spark"'

quick-tests: $(VENV)/.test
	$(PYTEST) @tests/quick.txt $(CHOSEN)

# For the oldest Python that we claim: the lowest versions have no wheels for newer ones.
lowest: VENV := build/lowest
lowest:
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(PIP) uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --resolution lowest-direct --editable ".[test]"
	$(PYTEST) @tests/quick.txt

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(VENV)/.test
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --fresh-env --jobs auto --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

man: $(VENV)/.docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b man docs docs/_build/man

pages: $(VENV)/.test
	$(BIN)/python -m discreet.papers.recorded
	$(BIN)/python docs/_extensions/pictures.py
	$(BIN)/python docs/_extensions/benchmark_pictures.py
	$(BIN)/python docs/_extensions/screenshots.py explorer desk
	$(BIN)/python docs/_extensions/outputs.py
	$(BIN)/python docs/_extensions/proof_picture.py
	$(BIN)/discreet reproduce --quick --only pf-fig1b --only err-fig8 --out build/report
	cp build/report/figures/*.svg docs/_static/figures/
	@$(MAKE) --no-print-directory docs
	$(BIN)/python docs/_extensions/screenshots.py site

proofs:
	@$(MAKE) --no-print-directory -C proofs

coverage: $(VENV)/.test
	$(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage/html --cov-report=xml:build/coverage/coverage.xml

package: $(VENV)/.test
	rm -rf dist build/clean
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip --disable-pip-version-check install --quiet dist/*.whl
	build/clean/bin/python .github/try_installed.py
	$(PIP) "cyclonedx-bom>=7"
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file build/bill-of-materials.json build/clean/bin/python
	@echo "build/bill-of-materials.json lists what the wheel brings along (CycloneDX)"

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

bench-large: $(VENV)/.test
	$(BIN)/python -m benchmarks --large

mutants: $(VENV)/.test
	$(BIN)/python -m benchmarks.mutants --elsewhere 300

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	@$(MAKE) --no-print-directory -C proofs clean
