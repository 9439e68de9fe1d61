# Every target does its own set-up: `make test` on a clean machine works.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

BIN := .venv/bin
LUA := $(wildcard lua plugin ftplugin ftdetect demo)

# A project's virtual environment must not leak into Flemma's own.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONSAFEPATH

.PHONY: help install dev demo test lint format bench docs clean

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: ## Build the private .venv Flemma runs from (what plugin managers call)
	@python="$$(scripts/find-python)" && "$$python" -m scripts.install

dev: ## Install everything tests and linters need
	@python="$$(scripts/find-python)" && "$$python" -m scripts.develop

demo: install ## Take the guided tour, offline; without a terminal print its transcript
	@$(BIN)/python -m scripts.demo

test: dev ## Run all tests; ARGS="..." goes to pytest
	@$(BIN)/pytest --numprocesses 2 --verbose $(ARGS)

lint: dev ## Check style, types, layers, sizes and generated files
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports --no-logo
	@luacheck --quiet $(LUA)
	@node_modules/.bin/stylua --check $(LUA)
	@$(BIN)/python -m scripts.check_sizes
	@$(BIN)/python -m scripts.generate_config --check
	@$(BIN)/python -m scripts.generate_lua_tools --check

format: dev ## Format Python and Lua
	@$(BIN)/ruff check --fix --exit-zero . && $(BIN)/ruff format .
	@node_modules/.bin/stylua $(LUA)

bench: dev ## Measure speed against its targets and write docs/performance.md
	@$(BIN)/pytest -o addopts= -o python_files='bench_*.py' tests/bench
	@$(BIN)/python -m tests.bench.harness

docs: dev ## Regenerate generated files and the README picture
	@$(BIN)/python -m scripts.generate_config
	@$(BIN)/python -m scripts.generate_lua_tools
	@$(BIN)/python -m scripts.screenshot

clean: ## Remove everything the other targets made
	@rm -rf .venv node_modules build dist .tmp ./*.egg-info \
		.pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
