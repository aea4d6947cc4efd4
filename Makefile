# Three targets do everything on a machine with Python, make and a package index:
#   make demo    install, fetch the data, train, show the result
#   make label   install, open the page of lcgnn label on Cora, with a simulated labeller
#   make test    install, check style and types, run the tests
# and for those who work on it:
#   make coverage   the tests, and which lines they do not reach
#   make docs       the documentation as a site, in build/site
#   make release    a wheel and a source archive in dist, checked, installed and tried

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More than there are processors, because some tests wait: for a page, a killed process, a port.
WORKERS ?= 3

.PHONY: demo label test coverage lint docs release results benchmark clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(BIN)/lcgnn demo

label: $(VENV)/installed
	$(BIN)/lcgnn label cora --simulate

test: $(VENV)/installed-dev lint
	@command -v chromium > /dev/null || echo '*** NO CHROMIUM: the tests of the report page are skipped (Debian: apt-get install chromium) ***'
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) $(COUNTED)

# Counting lines takes nearly half as much time again before Python 3.12, so that it is not part of the tests.
coverage: COUNTED = --cov=lcgnn
coverage: test

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then echo mypy; $(BIN)/mypy; \
	else echo '*** Types are checked on Python 3.11 and later: the last numpy for 3.10 describes its own less well ***'; fi

docs: $(VENV)/installed-docs
	$(BIN)/python -m docs.site build/site

release: $(VENV)/installed-dev
	$(BIN)/python -m tools.release

# The tables under results/; runs that have a record there are not repeated.
results: $(VENV)/installed-all
	$(BIN)/lcgnn reproduce all

benchmark: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("lcgnn needs Python 3.10 to 3.13; try make PYTHON=python3.11" if not (3, 10) <= sys.version_info < (3, 14) else 0)'
	$(PYTHON) -m venv $(VENV)

# Installed again only when what is to be installed changes.
$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[label]'
	@touch $@

$(VENV)/installed-all: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist runs demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
