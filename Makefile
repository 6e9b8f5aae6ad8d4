# Everything runs in .venv, which these targets make and fill by themselves.
#
#   make demo    answer questions about support tickets, offline
#   make test    run the tests
#   make lint    ruff, mypy, import rules
#   make bench   the benchmarks          make docs    build the documentation into site/
#   make serve   run the HTTP server     make clean   remove .venv and what was built
#
# TORCH chooses the build of torch, for example  make demo TORCH="torch --index-url https://…/whl/cpu".
# TEST_PROCESSES says how many processes share the tests; each computes on one core.

PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
TEST_PROCESSES ?= 2
PACKAGES := laya_hooks laya_core laya_router laya_serve plugins/laya-mini .
PROJECTS := $(wildcard pyproject.toml laya_*/pyproject.toml plugins/*/pyproject.toml)
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint format bench docs serve clean install

demo: $(RUNTIME)
	$(BIN)/python docs/examples/demo.py
	@echo
	@echo 'To go on with texts of your own:'
	@echo
	@echo '  . $(BIN)/activate'
	@echo '  laya predict "My parcel is late" --preset triage --model mini'

test: $(DEV)
	$(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadfile

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy laya_hooks/src laya_core/src laya_router/src laya_serve/src laya/src plugins/laya-mini/src
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV)
	$(BIN)/python -m pytest --override-ini addopts=--import-mode=importlib tests/benchmarks --benchmark-columns=min,median,max,rounds

docs: $(DEV)
	$(BIN)/mkdocs build --strict

serve: $(RUNTIME)
	LAYA_HOST=$${LAYA_HOST:-127.0.0.1} LAYA_DEFAULT_MODEL=$${LAYA_DEFAULT_MODEL:-mini} \
	LAYA_MODELS=$${LAYA_MODELS:-mini} $(BIN)/laya serve

install: $(DEV)

clean:
	rm -rf $(VENV) site build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	@tools/make-venv $(PYTHON) $(VENV)

$(RUNTIME): $(BIN)/python $(PROJECTS)
	@echo "Installing torch, laya and its packages into $(VENV) (the first time takes a few minutes) …"
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt $(addprefix -e ,$(PACKAGES))
	@touch $@

$(DEV): $(RUNTIME)
	@echo "Installing the tools for tests, linting and docs …"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement requirements-dev.txt
	@touch $@
