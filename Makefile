# Runoff. `make` lists the targets.
PYTHON ?= python3
VENV := .venv
DOCS := .venv-docs
LOWEST := .lowest
BIN := $(VENV)/bin
PORT ?= 8501
HOST ?= 127.0.0.1
PYTHONS ?= python3.12 python3.13
VOTE_PORT ?= $(or $(RUNOFF_VOTING_PORT),8600)

# What must be there before an environment is made, each with what to do where it isn't.
define NEW_ENVIRONMENT
@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON). Runoff needs Python 3.11 or newer; on Debian and Ubuntu: apt install python3 python3-venv" >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit("Runoff needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=…") if sys.version_info < (3, 11) else None'
$(PYTHON) -m venv $(1) || { rm -rf $(1); echo "Python's venv is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
endef

# pytest rewrites every test module when it reads it, 7 s of 13; where Python may keep what it compiled, once is enough.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run vote soak test test-fast test-all test-release test-postgres test-properties test-kills test-fuzz test-libraries test-pythons test-lowest check bench docs screenshots lock format clean chromium postgresql

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run  ## make the environment, install, and open the app on the demo project
	$(BIN)/streamlit run app.py --server.port $(PORT)

vote: $(VENV)/.run  ## serve the voting page to voters (HOST=127.0.0.1, VOTE_PORT=8600; docs/voting.md)
	$(BIN)/python -m voting --host $(HOST) --port $(VOTE_PORT)

soak: $(VENV)/.dev chromium postgresql  ## a hundred voters at once on the voting page, on both databases; nothing lost, and how quick it was
	$(BIN)/python -m bench.soak --database sqlite
	$(BIN)/python -m bench.soak --database postgresql

# What pytest runs in each tier; markers are explained in pyproject.toml. Five processes for two cores: one of them mostly waits for a
# browser, and beside other work each has its share.
PYTEST := $(BIN)/python -m pytest -n 5 --dist loadgroup
EVERY_CHANGE := not release and not libraries

test: $(VENV)/.dev chromium postgresql  ## what protects every change, browser tests included: minutes on two cores
	$(PYTEST) -m "$(EVERY_CHANGE)"

test-fast: $(VENV)/.dev  ## the modules of tests/fast.txt: under a minute on two cores
	$(PYTEST) -m "$(EVERY_CHANGE)" $$(find tests -name 'test_*.py' | grep -F -f tests/fast.txt)

test-all: $(VENV)/.dev chromium postgresql  ## what protects a release: all of this below, whatever of it fails, and what failed
	@failed=; \
	for part in test test-release test-postgres test-properties test-kills test-fuzz soak docs bench; do \
	  echo "== $$part, $$(date +%T)"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
	echo "== done, $$(date +%T)"; if [ -n "$$failed" ]; then echo "Failed:$$failed" >&2; exit 1; fi

test-release: $(VENV)/.dev chromium postgresql  ## the tests that only a release waits for: every browser journey, Turkle, Label Studio, notebooks, large campaigns
	$(PYTEST) -m "release and not libraries"

test-postgres: $(VENV)/.dev chromium postgresql  ## what is about the store, on PostgreSQL (the whole suite there: pytest --database postgresql)
	$(PYTEST) --database postgresql -m "both and not libraries"

test-properties: $(VENV)/.dev  ## the property tests with examples of this run's own
	$(PYTEST) -m "hypothesis and not libraries and not browser" --hypothesis-profile search

test-kills: $(VENV)/.dev postgresql  ## commands killed 200 times on each database, and the power lost 200 times
	$(BIN)/python -m bench.kills
	$(BIN)/python -m bench.kills --database postgresql
	$(BIN)/python -m bench.power

test-fuzz: $(VENV)/.dev  ## damaged files for every reader, half a minute each
	$(BIN)/python -m bench.fuzz --minutes 0.5

test-libraries: $(VENV)/.dev  ## what needs torch and other large libraries, in environments of their own of 12 GB (LIBRARIES=.libraries)
	RUNOFF_LIBRARIES=$(or $(LIBRARIES),.libraries) $(BIN)/python -m pytest -n 0 -m libraries

test-pythons: $(VENV)/.dev  ## the same bytes, and the tests of what computes, on other versions (PYTHONS="python3.12 python3.13")
	for python in $(PYTHONS); do \
	  $$python -m venv .pythons/$$python && \
	  .pythons/$$python/bin/python -m pip install --quiet -r requirements.txt -r $(VENV)/dev.txt || exit 1; done
	$(BIN)/python -m bench.pythons --tests $(PYTHONS:%=.pythons/%/bin/python)

test-lowest: $(LOWEST)/.done chromium postgresql  ## what `make test` runs, with the lowest versions that requirements.txt allows
	$(LOWEST)/bin/python -m pytest -n 5 --dist loadgroup -m "$(EVERY_CHANGE)"

check: $(VENV)/.dev  ## lint, types and `make test`, as they must be before a commit; CI runs this
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit -q -c pyproject.toml -r core ui pages voting app.py
	$(MAKE) test

bench: $(VENV)/.dev chromium  ## speed, as ratios measured in one run
	$(BIN)/python -m bench

docs: $(DOCS)/.done  ## the documentation as a site in build/site; a broken link or heading is an error
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet
	@echo "The site is in build/site: $(PYTHON) -m http.server -d build/site"

screenshots: $(VENV)/.dev chromium  ## the pictures in docs/pictures, from the demo
	$(BIN)/python -m tests.browser.pictures

lock:  ## requirements.lock anew: the newest versions that requirements.txt and the extra postgresql allow, in an environment made for that
	rm -rf build/lock
	$(call NEW_ENVIRONMENT,build/lock)
	build/lock/bin/python -m tests.requirements postgresql > build/lock/postgresql.txt
	build/lock/bin/python -m pip install --quiet -r requirements.txt -r build/lock/postgresql.txt
	{ echo "# What requirements.txt and PostgreSQL's driver came to in a fresh environment of Python 3.11: \`make lock\`. It pins what the container runs."; \
	  build/lock/bin/python -m pip freeze --local; } > requirements.lock
	rm -rf build/lock

format: $(VENV)/.dev  ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and every cache (never a workspace)
	rm -rf $(VENV) $(DOCS) $(LOWEST) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/out tests/browser/shots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

chromium:
	@for name in chromium-headless-shell chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	sh tests/browser/install_chromium.sh

postgresql:
	@sh tests/install_postgresql.sh

$(VENV)/bin/python:
	$(call NEW_ENVIRONMENT,$(VENV))

$(VENV)/.run: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

$(VENV)/.dev: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m tests.requirements dev > $(VENV)/dev.txt
	$(BIN)/python -m pip install --quiet -r requirements.txt -r $(VENV)/dev.txt
	touch $@ $(VENV)/.run

# "numpy>=2.0,<3" becomes the pin "numpy==2.0".
$(LOWEST)/.done: requirements.txt pyproject.toml
	rm -rf $(LOWEST)
	$(call NEW_ENVIRONMENT,$(LOWEST))
	sed -nE 's/^([A-Za-z0-9-]+)>=([0-9.]+),.*/\1==\2/p' requirements.txt > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m tests.requirements dev > $(LOWEST)/dev.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/lowest.txt -r requirements.txt -r $(LOWEST)/dev.txt
	touch $@

$(DOCS)/.done: pyproject.toml
	$(call NEW_ENVIRONMENT,$(DOCS))
	$(DOCS)/bin/python -m tests.requirements docs > $(DOCS)/docs.txt
	$(DOCS)/bin/python -m pip install --quiet -r $(DOCS)/docs.txt
	touch $@
