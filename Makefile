# Everything runs from a virtual environment that make creates; nothing is installed outside it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-agents lint bench clean

demo: $(STAMP)
	$(BIN)/noface demo

test: lint
	$(BIN)/python -m compileall -q noface # the tests start noface many hundred times
	$(BIN)/python -m pytest -q -n 3 --dist worksteal

# Installs the real agent programs (npm and pip) into .agents/ and runs noface with them against a model on loopback.
test-agents: $(STAMP)
	$(BIN)/python tests/agents/run.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python tests/bench/bench.py

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "noface needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .agents .mypy_cache .ruff_cache .pytest_cache
