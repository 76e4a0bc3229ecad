# Everything runs from a bare checkout with Python 3.11 to 3.13; `make` alone lists the targets.
PYTHON ?= python3
UV := .tools/bin/uv
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help env run test check format lint types contracts audit bench bench-screening bench-exchange lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# uv has an environment of its own, so that syncing .venv to the lock does not remove it.
$(UV): requirements/uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "stammdaten needs Python 3.11, 3.12 or 3.13: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv --clear .tools
	@.tools/bin/python -m pip install --quiet --require-hashes -r requirements/uv.lock
	@touch $@

.venv/.made: $(UV) requirements/dev.lock pyproject.toml
	@$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	@$(UV) pip sync --quiet --require-hashes --compile-bytecode --python $(BIN)/python requirements/dev.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation --python $(BIN)/python --editable .
	@touch $@

env: .venv/.made ## make the environment in .venv, exactly as locked

run: env ## serve a demo on this machine: address, token and a first call are printed
	@$(BIN)/stammdaten demo --serve

test: env ## all tests, on SQLite and PostgreSQL
	@$(BIN)/pytest -n auto --dist worksteal

check: lint types contracts audit ## all that decides a landing but the tests

format: env ## format the code and sort the imports
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix-only --quiet .

lint: env ## formatting and lint rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: env ## static types, strict
	@$(BIN)/mypy

contracts: env ## which room may import which
	@$(BIN)/lint-imports

audit: env ## known vulnerabilities in what is locked
	@$(BIN)/pip-audit --require-hashes --disable-pip -r requirements/dev.lock --progress-spinner off

bench: env ## measure beside the floor and a textbook service; needs wrk
	@$(BIN)/python -m bench

bench-screening: env ## measure what screening finds, what it alarms about, and what it costs
	@$(BIN)/python -m bench.screening

bench-exchange: env ## measure imports beside a bare table, and what readers notice of them
	@$(BIN)/python -m bench.exchange

lock: $(UV) ## renew the lock files from pyproject.toml
	@echo 'uv' | $(UV) pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header - -o requirements/uv.lock
	@$(UV) pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o requirements/runtime.lock
	@$(UV) pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml --group dev -o requirements/dev.lock

clean: ## remove what make made, but no data
	@rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
