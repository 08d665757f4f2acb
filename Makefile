# Everything sets itself up: Python >= 3.11, git and make are all that has to be there.
PYTHON ?= python3
# A built-in data set by its name: `make audit DATASET=digits` is `make audit WORKSPACE=workspaces/digits`.
DATASET ?=
WORKSPACE ?= $(if $(DATASET),workspaces/$(DATASET),.)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: audit collect test test-all check docs bench dvc-yaml repro chromium clean

audit: $(READY)
	@python -m flows.audit --workspace "$(WORKSPACE)"

# WORKSPACE is an audit's by default; the built-in collection has its own.
collect: $(READY)
	@python -m flows.collect --workspace "$(if $(filter .,$(WORKSPACE)),workspaces/paraphrases,$(WORKSPACE))"

repro: $(READY)
	@dvc repro $(if $(filter .,$(WORKSPACE)),,"$(WORKSPACE)/dvc.yaml")

# All but the slow ones, within ten minutes on two cores; `make test-all` runs those too.
test: $(READY) chromium
	@python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-all: $(READY) chromium
	@python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

check: $(READY)
	@ruff check .
	@ruff format --check .
	@codespell
	@mypy
	@python -m tasks dvc-yaml --check
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict

# The documentation as pages that need no network: build/site/index.html.
docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict

bench: $(READY)
	@python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@for name in measures recorder drivers noise aflite images k_centre throughput grid pairs; do echo "== benchmarks/$$name.py"; python benchmarks/$$name.py || exit 1; done

dvc-yaml: $(READY)
	@python -m tasks dvc-yaml

# Installs the project at the versions of constraints.txt; done again only when these files change.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Cartograph needs Python 3.11 or newer; this is %s. Name another with make PYTHON=..." % sys.version.split()[0])'
	@echo "Setting up $(VENV) (once; a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# The page tests drive a real browser; without one they skip, and say so.
chromium:
	@command -v chromium >/dev/null 2>&1 || { \
	  if command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	    echo "Installing chromium for the page tests"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  fi; } || true
	@command -v chromium >/dev/null 2>&1 || echo "No chromium here: the page tests will skip. Install it to run them."

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
