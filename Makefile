# Every command of this house. `make` alone lists them.

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-browser screenshots check format requirements seeds proof mutants bench lock clean

help: ## this list
	@echo "Haulwright. Start with: make demo"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' \
		| awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

setup: ## make .venv with the locked packages of every extra (PYTHON=python3.12 for another Python)
	@PYTHON='$(PYTHON)' sh tools/setup.sh requirements.lock

setup-dev: ## the same with what the tests and checks need
	@PYTHON='$(PYTHON)' sh tools/setup.sh requirements-dev.lock

demo: setup ## see it work: five applications, two workers, one killed, nothing lost (DATABASE_URL=... for PostgreSQL)
	@$(BIN)/haulwright demo $(if $(filter command%,$(origin DATABASE_URL)),--database '$(DATABASE_URL)') $(ARGS)

test: setup-dev ## every promise at small size, on SQLite and PostgreSQL (ARGS="-k lease" for a few)
	@sh tools/chromium.sh
	@$(BIN)/python -m pytest -n 3 --dist loadgroup $(ARGS)

test-browser: setup-dev ## the dashboard in a real Chromium, installed from Debian's package where it is missing and that can be
	@sh tools/chromium.sh
	@$(BIN)/python -m pytest tests/browser $(ARGS)

screenshots: setup-dev ## take the pictures of the documentation anew, into docs/images
	@sh tools/chromium.sh
	@$(BIN)/python -m pytest tests/browser/pictures.py $(ARGS)

check: setup-dev ## format, lint, types, walls between rooms, and what the repository promises about itself
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/requirements.py --quiet
	@$(BIN)/python -m pytest tests/test_house.py tests/test_document_lines.py $(wildcard tests/test_docs.py)

format: setup-dev ## let the formatter write, and fix what the linter can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

requirements: setup-dev ## which requirement is proven by which tests (ARGS=--engine for the engine's alone)
	@$(BIN)/python tools/requirements.py $(ARGS)

seeds: setup-dev ## what the five teams' documents state, each line checked, one result a line (ARGS="-k syncs" for some)
	@$(BIN)/python tools/document_lines.py $(ARGS)

proof: setup-dev ## the promises at full size, up to 90 minutes (ONLY=race for one; ONLY=chaos|soak|upgrades MINUTES=20)
	@ONLY='$(ONLY)' MINUTES='$(MINUTES)' SEED='$(SEED)' $(BIN)/python -m pytest proof --timeout 3600 $(if $(ONLY),-k '$(ONLY)') $(ARGS)

mutants: setup-dev ## remove each guard in turn and see its tests go red
	@$(BIN)/python tools/mutants.py $(ARGS)

bench: setup-dev ## figures next to peers and raw loops, up to 60 minutes (QUICK=1 for under 5, ONLY=drain for some)
	@QUICK='$(QUICK)' ONLY='$(ONLY)' $(BIN)/python -m bench $(ARGS)

# The locks carry versions and hashes but no addresses, so they install from any index or mirror.
COMPILE := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --quiet --extra all --group build

lock: ## resolve requirements*.lock anew (needs uv; ARGS=--upgrade for newer versions)
	@$(COMPILE) --output-file requirements.lock $(ARGS)
	@$(COMPILE) --group dev --constraints requirements.lock --output-file requirements-dev.lock $(ARGS)

clean: ## remove .venv and every cache
	@rm -rf .venv .venv-peers .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
