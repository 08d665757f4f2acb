# Everything sets itself up: Python >= 3.11, git and make are all that has to be there.
PYTHON ?= python3
# A built-in data set by its name: `make audit DATASET=digits` is `make audit WORKSPACE=workspaces/digits`.
DATASET ?=
WORKSPACE ?= $(if $(DATASET),workspaces/$(DATASET),.)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Each step is a process of its own: containers often set this, and every one of them would compile the code again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: audit collect test test-all test-again coverage check docs bench dvc-yaml notices vulnerabilities sbom repro chromium clean

# One's own file: `make audit DATA=reviews.csv TEXT=review LABEL=sentiment`; for pairs also PAIR=column.
# A table of features: `make audit DATA=people.csv FEATURES=1 LABEL=income`, or FEATURES=age,job. PROFILE: quick, standard or full.
# Multiple choice: OPTIONS="option1 option2". Images: IMAGE=column, IMAGE=image for a folder of them.
# LINKED: a column whose equal values link rows (a patient, a speaker, a document): they are held out together.
# PRETRAINED: folder or hub id of an encoder, whose vectors find far more wrong labels than words alone.
# LABELLED_BY: a column that says who gave a row's label, by which labels of somebody who is more often wrong are doubted more.
# Several labels a row: LABELS=tags instead of LABEL, or LABELS=spam,urgent for columns of 0 and 1.
DATA ?=
TEXT ?= text
PAIR ?=
FEATURES ?=
OPTIONS ?=
IMAGE ?=
LABEL ?= label
LABELS ?=
LINKED ?=
LABELLED_BY ?=
PRETRAINED ?=
PROFILE ?=
TABLE := $(if $(FEATURES),$(if $(filter 1 all,$(FEATURES)),--features,--feature "$(FEATURES)"))
OWN := --data "$(DATA)" $(TABLE) --text "$(TEXT)" --text-pair "$(PAIR)" --label "$(LABEL)" --labels "$(LABELS)" \
  $(foreach option,$(OPTIONS),--option "$(option)") --image "$(IMAGE)" --linked "$(LINKED)" --labelled-by "$(LABELLED_BY)" \
  --pretrained "$(PRETRAINED)" --profile "$(PROFILE)"

audit: $(READY)
	$(if $(PROFILE),$(if $(DATA),,$(error PROFILE goes with DATA: what a built-in audit runs is in the params.yaml of its workspace)))
	@python -m flows.audit$(if $(filter .,$(WORKSPACE)),, --workspace "$(WORKSPACE)")$(if $(DATA), $(OWN))

# WORKSPACE is an audit's by default; the built-in collection has its own.
collect: $(READY)
	@python -m flows.collect --workspace "$(if $(filter .,$(WORKSPACE)),workspaces/paraphrases,$(WORKSPACE))"

repro: $(READY)
	@python -m tasks dvc-yaml --workspace "$(WORKSPACE)"
	@dvc repro $(if $(filter .,$(WORKSPACE)),,"$(WORKSPACE)/dvc.yaml")

# Workers share the cores: in each, and in what it starts, the threads of numerical libraries would wait for those of the others.
ONE_THREAD := OMP_NUM_THREADS=1

# All but the slow ones, within ten minutes on two cores; `make test-all` runs those too.
test: $(READY) chromium
	@$(ONE_THREAD) python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

# In an order of its own each time: SEED=… repeats one that failed. MINUTES=…: slow tests that would begin later are left out, and counted
# as skipped. CHROMIUM=required: without one, that is a failure. The slow ones often wait (for schedules, servers, what was killed), so that
# three at a time keep two cores busy. Lines are counted while unit tests run: before Python 3.12, counting takes a fifth of a test's time.
SEED ?= $(shell date +%s)
MINUTES ?=
test-all: $(READY) chromium
	@$(ONE_THREAD) $(CORE) python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder --shuffle-seed "$(SEED)" \
	  $(if $(MINUTES),--slow-within $(MINUTES)) $(COVERED) --count-within tests/unit; \
	  status=$$?; python -m coverage report --format=total | sed 's/.*/The unit tests run & % of the lines/'; exit $$status

# How much of our own code the tests run, by file; programs that they start are not counted.
COVERED := --cov=cartograph --cov=tasks --cov=flows --cov-report=
CORE = $(shell python -c 'import sys; print("COVERAGE_CORE=" + ("sysmon" if sys.version_info >= (3, 12) else "ctrace"))')
coverage: $(READY) chromium
	@$(ONE_THREAD) $(CORE) python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" $(COVERED)
	@python -m coverage report --skip-covered

# Those that failed in the last run, one after the other.
test-again: $(READY) chromium
	@python -m pytest -q --last-failed --last-failed-no-failures none

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

# The licences of what constraints.txt names, as THIRD-PARTY-NOTICES.md.
notices: $(READY)
	@python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench,release]'
	@python .ci/notices.py

# What a release is checked and listed with is installed in an environment of its own, so that it is no part of the list.
TOOLS := build/release
$(TOOLS)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt cyclonedx-bom pip-audit
	@touch $@

# Known vulnerabilities of what constraints.txt names; ends with 2, and says so, where the service cannot be asked.
vulnerabilities: $(TOOLS)/.ready
	@$(TOOLS)/bin/python .ci/vulnerabilities.py

# What .venv holds, as CycloneDX JSON; not where this checkout lies.
sbom: $(READY) $(TOOLS)/.ready
	@mkdir -p dist
	@$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/cartograph.cdx.json $(BIN)/python
	@$(BIN)/python .ci/sbom.py dist/cartograph.cdx.json
	@echo "dist/cartograph.cdx.json"

# Installs the project at the versions of constraints.txt; done again only when these files change.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Cartograph needs Python 3.11 or newer; this is %s. Name another with make PYTHON=..." % sys.version.split()[0])'
	@echo "Setting up $(VENV): about 300 packages, 3 GB on disk; once, a few minutes"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -u .ci/install.py -c constraints.txt -e '.[dev]'
	@touch $@

# The page tests drive a real browser; without one they skip, and say so.
chromium:
	@command -v chromium >/dev/null 2>&1 || { \
	  if command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	    echo "Installing chromium for the page tests"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  fi; } || true
	@command -v chromium >/dev/null 2>&1 || { echo "No chromium here: the page tests will skip. Install it to run them."; [ "$(CHROMIUM)" != required ]; }

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
