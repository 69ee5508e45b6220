# Two commands are enough on a fresh machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help demo demo-desk test lint types docs man pages proofs coverage package bench bench-large mutants clean

help:
	@echo "make demo         set up, then show one private selection from end to end"
	@echo "make demo-desk    set up, then serve the invented clinic to two analysts, and open the page"
	@echo "make test         set up, then run every test, lint and type check"
	@echo "make lint types   only the linter and the spelling, only the type checker"
	@echo "make docs         build the documentation site into docs/_build/html"
	@echo "make man          build the manual page, docs/_build/man/discreet.1"
	@echo "make pages        check every claim again and redraw the pictures of the documentation"
	@echo "make proofs       have Coq check the theorems of proofs/ (says what to install if it is absent)"
	@echo "make coverage     run the tests and report which lines they reach, into build/coverage"
	@echo "make package      build sdist and wheel, check them, and try the wheel in a clean environment"
	@echo "make bench        the benchmarks, at sizes that take a few minutes"
	@echo "make bench-large  the benchmarks at full size"
	@echo "make mutants      plant small defects and see whether the tests notice; continues where it ended (benchmarks/mutants.py)"
	@echo "make clean        remove the virtual environment and what was built"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

# A stamp per set of extras: reinstalled only when pyproject.toml changes.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[test]"
	@touch $@ $(VENV)/.demo $(VENV)/.desk

demo: $(VENV)/.demo
	@$(BIN)/discreet demo

$(VENV)/.desk: pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[desk]"
	@touch $@ $(VENV)/.demo

demo-desk: $(VENV)/.desk
	@$(BIN)/discreet desk demo

test: $(VENV)/.test lint types
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(VENV)/.test
	$(BIN)/mypy

docs: $(VENV)/.test
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

man: $(VENV)/.test
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b man docs docs/_build/man

pages: $(VENV)/.test
	$(BIN)/python docs/_extensions/claims_page.py
	$(BIN)/python docs/_extensions/pictures.py
	$(BIN)/python docs/_extensions/benchmark_pictures.py
	$(BIN)/python docs/_extensions/screenshots.py
	$(BIN)/python docs/_extensions/outputs.py
	$(BIN)/python docs/_extensions/proof_picture.py
	$(BIN)/discreet reproduce --quick --only pf-fig1b --only err-fig8 --out build/report
	cp build/report/figures/*.svg docs/_static/figures/

proofs:
	@$(MAKE) --no-print-directory -C proofs

coverage: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term --cov-report=html:build/coverage/html --cov-report=xml:build/coverage/coverage.xml

package: $(VENV)/.test
	rm -rf dist build/clean
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip --disable-pip-version-check install --quiet dist/*.whl
	build/clean/bin/python .github/try_installed.py

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

bench-large: $(VENV)/.test
	$(BIN)/python -m benchmarks --large

mutants: $(VENV)/.test
	$(BIN)/python -m benchmarks.mutants --elsewhere 300

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	@$(MAKE) --no-print-directory -C proofs clean
