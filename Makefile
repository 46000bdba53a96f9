# Everything runs from a virtual environment that make creates; nothing is installed outside it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -q -n 3 --dist worksteal $(if $(SHUFFLE),--shuffle $(SHUFFLE))
STAMP := $(VENV)/.installed

# The tests of the rooms that decide: no process, no repository.
FAST := $(addprefix tests/, model diagnosis integrity secrets prompts knowledge recovery config conventions)

.PHONY: demo test test-fast test-agents test-browser test-ecosystems test-runners test-ways test-conflicts test-thorough test-mutants test-nightly test-github soak lint bench github-openapi clean

demo: $(STAMP)
	$(BIN)/noface demo

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

# Installs the real agent programs (npm and pip) into .agents/ and runs noface with them against a model on loopback.
test-agents: $(STAMP)
	$(BIN)/python tests/real_agents/run.py

# The board in the Chromium of this machine, by keyboard and mouse; screenshots are left in .browser/shots.
test-browser: $(STAMP)
	$(BIN)/python tests/browser/run.py

# Kills noface at random beside a person at work, and looks after each death; SEED=… repeats the same choices.
SECONDS ?= 300
soak: $(STAMP)
	$(BIN)/python tests/soak/soak.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# noface end to end on small projects of the ecosystems whose tools are installed here; says what it did not run.
test-ecosystems: $(STAMP)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tests/ecosystems/run.py

# What noface learns of the tests of jest, vitest and mocha (from npm), cargo, go and ctest where they are installed.
test-runners: $(STAMP)
	$(BIN)/python tests/runners/run.py

# Has noface judge each change of the table in tests/ways: what buys a green must not land, what is honest must land or be
# asked about. WAYS="spans dice" chooses projects or changes by a part of their names.
test-ways: $(STAMP)
	$(BIN)/python tests/ways/run.py $(WAYS)

# What `make test` leaves out: further whole runs, kills, outages, examples, every regular expression and hostile text.
test-thorough: $(STAMP)
	$(PYTEST) -m thorough

# Changes one condition of what decides at a time, in memory; the tests named beside it must notice. MUTANTS="policy.py" chooses.
test-mutants: $(STAMP)
	$(BIN)/python tests/mutants/mutants.py $(MUTANTS)

# What continuous integration runs at night (`.ci/run test-nightly`): all that `make test` leaves out of the same suite.
test-nightly: test-thorough test-mutants
	$(BIN)/python tests/browser/run.py --if-there

GITHUB := tests/forge tests/trackers $(addprefix tests/engine/test_, tracker_sync.py pull_rounds.py from_issue_to_merge.py)

# Lives of an issue on GitHub (tests/forge/lives.toml), and all else that speaks to the GitHub of the tests; LIVES="skip" chooses.
test-github: $(STAMP)
	$(PYTEST) -m "thorough or not thorough" $(if $(LIVES),tests/forge/test_lives.py -k "$(LIVES)",$(GITHUB))

# Issues that all append to one file, with three workers and with one: do all land, after how many attempts?
test-conflicts: $(STAMP)
	$(BIN)/python tests/conflicts/run.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/ladder.py

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
