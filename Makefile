# Everything that people and CI do with this project, one command each, safe to repeat.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
WORKERS ?= 2
# Each worker has its own databases, folder and queue (tests/settings.py) and takes tests from one that lags behind.
PYTEST := $(BIN)/pytest -q -n $(WORKERS) --dist worksteal
# Compiled once: serve and the tests start many processes, each of which would spend a second on compiling its imports.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo serve test lint lint-types lint-style lint-site bench test-here test-services clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: .venv/runtime $(if $(VOICE),.venv/voice)  ## Install, fetch benchmark files, serve the site with rehearsals to look at (VOICE=1: a spoken call too)
	@$(MANAGE) fetch_benchmarks --domain tau2_retail || echo "Going on without those files."
	@$(MANAGE) demo --address http://127.0.0.1:$(PORT)
	@$(MANAGE) serve --port $(PORT)

serve: .venv/runtime  ## Serve the site, its lanes, party servers and stand-ins
	@$(MANAGE) serve --port $(PORT)

test: lint test-here test-services  ## Everything: checks, tests here, tests on PostgreSQL and Redis

lint: .venv/dev  ## ruff, mypy, import contracts, templates, migrations, deployment settings
	@$(MAKE) --no-print-directory -j2 lint-types lint-style lint-site

lint-types: .venv/dev
	$(BIN)/mypy

lint-style: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet

lint-site: .venv/dev
	env -u DATABASE_URL CALLBOARD_VAR=$$(mktemp -d) $(MANAGE) makemigrations --check --dry-run
	env -u DATABASE_URL HTTPS=1 CALLBOARD_VAR=$$(mktemp -d) $(MANAGE) check --deploy --fail-level WARNING

test-here: .venv/dev  ## The suite on SQLite, and the pages in Chromium
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -p no:playwright -m "not browser"
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -m browser

test-services: .venv/dev  ## On PostgreSQL and Redis, where they answer, all that can depend on them
	@if services=$$($(BIN)/python -m tests.services); then \
		echo "On $$services"; \
		env $$services $(PYTEST) --services-only -p no:playwright -m "not browser" \
			&& env $$services $(PYTEST) --services-only -m browser; \
	else test -z "$$CI"; fi

bench: .venv/runtime  ## The speed figures, each with its target and conditions
	$(MANAGE) bench

clean:  ## Remove the environment and caches (never data/)
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# The environment. uv resolves in seconds what takes an old pip minutes; pip goes on where uv trusts no registry.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
		|| { echo "$(PYTHON) is not Python 3.11 to 3.13: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python pyproject.toml
	$(call install,.)
	@touch $@

.venv/voice: .venv/bin/python pyproject.toml  # speech: piper-tts is under the GPL-3.0
	$(call install,.[voice])
	@touch $@ .venv/runtime

.venv/dev: .venv/bin/python pyproject.toml
	$(call install,.[dev])
	@touch $@ .venv/runtime .venv/voice

define install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9 \
		&& UV_SYSTEM_CERTS=1 $(BIN)/uv pip install --quiet --python $(BIN)/python -e '$(1)' \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '$(1)'
endef
