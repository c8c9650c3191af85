# SPDX-License-Identifier: Apache-2.0
# Everything runs in a virtual environment of its own, .venv, which the first command makes.

PYTHON ?= python3
BIN := .venv/bin

CODE := referee power client_sample tests docs/site
# Rules, numbers, formats, store, use cases, routes and clients: no whole program, no meter's wire. And the events of
# earlier versions, which a change may call false.
QUICK := $(filter-out %/__pycache__ $(addprefix tests/,bench e2e power), \
	$(patsubst %/,%,$(wildcard tests/*/))) $(wildcard tests/test_*.py) tests/e2e/test_stored_events.py
FAST := -m 'stored or not slow and not browser'

# The tests start hundreds of programs, and each would compile its modules again.
quick near test bench pictures: export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo docs quick near test check format bench pictures schema release clean

help:
	@echo "make demo      a whole session on this machine: servers, emulated meter, contestant, score"
	@echo "make docs      these documents as a site, build/site/index.html, which a wheel takes along"
	@echo "make near      the tests that concern a file, in seconds: ARGS=referee/core/states.py"
	@echo "make quick     the short tests of all but whole programs and meters, in two minutes"
	@echo "make test      all tests; ARGS='tests/core -k states' runs a part"
	@echo "make check     layout, lint and types"
	@echo "make format    lay the code out as 'make check' wants it"
	@echo "make bench     speed, as ratios against peers measured in the same run; ARGS=serving runs a part"
	@echo "make pictures  all pictures of the documents, from an event that is played in Chromium"
	@echo "make schema    the readable schema, after a change of a migration"
	@echo "make release   wheel, sdist, components and checksums of the commit, tried in empty environments"
	@echo "make clean     remove what these commands made, the virtual environment too"

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	touch $@

# What is installed depends on setup.cfg alone: the package itself is used in place. A stamp has the
# time at which its installation began, so that what is edited meanwhile is installed the next time.
BEGIN = @touch $@-begun
DONE = @mv $@-begun $@

# The demo's page has charts, which the extra `event` brings.
.venv/run: .venv/made setup.cfg
	$(BEGIN)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[event]'
	$(DONE)

# A test needs a small part of what is installed, and Python compiles that part when it is used:
# once, before four workers would do it four times at once.
INSTALL := $(BIN)/pip install --no-compile --quiet --disable-pip-version-check --editable
COMPILE := env PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

.venv/test: .venv/made setup.cfg
	$(BEGIN)
	$(INSTALL) '.[test]'
	$(DONE)

.venv/test-all: .venv/made setup.cfg
	$(BEGIN)
	$(INSTALL) '.[test-all]'
	$(COMPILE)
	@touch -r $@-begun .venv/test
	$(DONE)

# It has what the tests need, too, so a machine that checks and tests installs once.
.venv/check: .venv/made setup.cfg
	$(BEGIN)
	$(INSTALL) '.[test-all,check]'
	$(COMPILE)
	@touch -r $@-begun .venv/test .venv/test-all
	$(DONE)

.venv/docs: .venv/made setup.cfg
	$(BEGIN)
	$(INSTALL) '.[docs]'
	$(DONE)

.venv/release: .venv/made setup.cfg
	$(BEGIN)
	$(INSTALL) '.[release]'
	$(DONE)

demo: .venv/run
	$(BIN)/python -m referee demo $(ARGS)

# A link to what is not there is an error. Each run writes all pages anew.
docs: .venv/docs
	rm -rf build/site
	$(BIN)/python -m sphinx -E -q -W --keep-going -c docs/site -d build/doctrees . build/site
	@echo "Wrote build/site/index.html."

quick: .venv/test
	$(BIN)/python -m pytest -n 4 $(FAST) $(QUICK) $(ARGS)

# Scripts and styles have no other tests than the browser's. What did not run is said last.
near: .venv/test
	@tests=$$($(BIN)/python -m tests.support.near $(ARGS)) || exit; \
	$(BIN)/python -m pytest -n 2 -m 'not slow' $$tests; passed=$$?; \
	$(BIN)/python -m tests.support.near --left-out $(ARGS); exit $$passed

# Many tests wait for processes, so two cores can serve four workers. A file's tests share servers and
# browsers, so a worker takes a whole file, in the order of tests/conftest.py.
test: .venv/test-all
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

# All tools run, so one look tells everything.
check: .venv/check
	@failed=0; \
	$(BIN)/ruff format --quiet --diff $(CODE) || failed=1; \
	$(BIN)/ruff check --quiet $(CODE) || failed=1; \
	$(BIN)/mypy || failed=1; \
	exit $$failed

format: .venv/check
	$(BIN)/ruff format --quiet $(CODE)
	$(BIN)/ruff check --quiet --fix --select I $(CODE)

bench: .venv/test-all
	$(BIN)/python -m tests.bench $(ARGS)

pictures: .venv/test-all
	$(BIN)/python -m tests.pictures $(ARGS)

schema: .venv/test
	$(BIN)/python -m tests.schema

release: .venv/release
	$(BIN)/python -m tests.release $(ARGS)

clean:
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist demo *.egg-info
