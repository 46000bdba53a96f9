# Everything runs from a virtual environment that make creates; nothing is installed outside it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -q -n 3 --dist worksteal $(if $(SHUFFLE),--shuffle $(SHUFFLE))
STAMP := $(VENV)/.installed

# The tests of the rooms that decide: no process, no repository.
FAST := $(addprefix tests/, model diagnosis integrity secrets prompts knowledge recovery config conventions)

.PHONY: demo test test-fast test-nightly test-agents soak lint bench nights github-openapi clean

demo: $(STAMP)
	$(BIN)/noface tools demo

# SHUFFLE=random, or SHUFFLE=… with the seed of an earlier run, changes the order.
# mypy runs beside the tests, which wait now and then; what it found is printed before the tests' last word is given.
test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m compileall -q noface # the tests start noface many hundred times
	@echo '$(BIN)/mypy & $(PYTEST)'; \
	types=$$(mktemp); $(BIN)/mypy > $$types 2>&1 & mypy=$$!; \
	$(PYTEST); tests=$$?; \
	wait $$mypy; mypy=$$?; test $$mypy = 0 || cat $$types; rm -f $$types; exit $$((tests ? tests : mypy))

# A change of what decides (why did it fail, what next, what models read, what noface.toml means), in under a minute.
test-fast: $(STAMP)
	$(PYTEST) $(FAST)

# What continuous integration runs at night (`.ci/run test-nightly`): all that `make test` leaves out and that needs no network:
# further whole runs, mutants, ways to buy a green, the board in a browser, a sample of nights, ten minutes of soak.
test-nightly: SUITES ?= thorough mutants ways browser nights soak
test-nightly: $(STAMP)
	$(BIN)/python tests/suites.py $(SUITES)

# What needs npm and PyPI: the real agent programs against a model on loopback (installed in .agents/), the test runners of
# other languages, and small projects of the ecosystems whose tools are installed here.
test-agents: SUITES ?= agents runners ecosystems
test-agents: $(STAMP)
	$(BIN)/python tests/suites.py $(SUITES)

# Kills noface at random beside a person at work, and looks after each death; SEED=… repeats the same choices.
SECONDS ?= 300
soak: $(STAMP)
	$(BIN)/python tests/soak/soak.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/best_of_several.py

# Thirty nights as they happen, with noface and with two simple loops; NIGHTS="disk-full ctrl-c" chooses some.
# SEEDS="1-300" plays generated nights instead, JOBS=2 at a time.
nights: $(STAMP)
	$(BIN)/python benchmarks/nights$(if $(SEEDS),/seeds.py $(SEEDS) --jobs $(or $(JOBS),2), $(NIGHTS))

# Cuts what noface uses out of GitHub's description of its API (npm's @octokit/openapi), for the tests; PACKAGE=23.0.2 chooses.
github-openapi: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m support.github_openapi_extract $(if $(PACKAGE),--package $(PACKAGE))

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "noface needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .agents .browser .mypy_cache .ruff_cache .pytest_cache
