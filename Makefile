# SPDX-License-Identifier: Apache-2.0
# Everything runs in a virtual environment of its own, .venv, which the first command makes.

PYTHON ?= python3
BIN := .venv/bin

CODE := referee power client_sample tests
# ruff reads no setup.cfg, so its settings stand here. A short body may stand behind its colon, and
# the sample clients run on Pythons whose zip() has no 'strict'.
LAYOUT := --line-length 100
LINT := --select E,F,W,B,I --ignore E701,B905
# Rules, numbers, formats, store and use cases: no server, no meter's wire, no browser.
QUICK := $(filter-out %/__pycache__ $(addprefix tests/,bench client_sample e2e power web), \
	$(patsubst %/,%,$(wildcard tests/*/))) $(wildcard tests/test_*.py)

# The tests start hundreds of programs, and each would compile its modules again.
quick test bench pictures: export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo quick test check format bench pictures schema clean

help:
	@echo "make demo      a whole session on this machine: servers, emulated meter, contestant, score"
	@echo "make quick     the tests of rules, numbers and use cases, in less than 30 seconds"
	@echo "make test      all tests; ARGS='tests/core -k states' runs a part"
	@echo "make check     layout, lint and types"
	@echo "make format    lay the code out as 'make check' wants it"
	@echo "make bench     speed, as ratios against peers measured in the same run; ARGS=serving runs a part"
	@echo "make pictures  all pictures of the documents, from an event that is played in Chromium"
	@echo "make schema    the readable schema, after a change of a migration"
	@echo "make clean     remove what these commands made, the virtual environment too"

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	touch $@

# What is installed depends on setup.cfg alone: the package itself is used in place.
.venv/run: .venv/made setup.cfg
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

# A test needs a small part of what is installed, and Python compiles that part when it is used.
.venv/test: .venv/made setup.cfg
	$(BIN)/pip install --no-compile --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

# It has what the tests need, too, so a machine that checks and tests installs once.
.venv/check: .venv/made setup.cfg
	$(BIN)/pip install --no-compile --quiet --disable-pip-version-check --editable '.[test,check]'
	touch .venv/test $@

demo: .venv/run
	$(BIN)/python -m referee demo $(ARGS)

quick: .venv/test
	$(BIN)/python -m pytest -n 2 -m 'not slow and not browser' $(QUICK) $(ARGS)

# Many tests wait for processes, so two cores can serve four workers. A file's tests share servers and
# browsers, so a worker takes a whole file, in the order of tests/conftest.py: the longest come first.
test: .venv/test
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

check: .venv/check
	$(BIN)/ruff format --quiet --diff $(LAYOUT) $(CODE)
	$(BIN)/ruff check --quiet $(LAYOUT) $(LINT) $(CODE)
	$(BIN)/mypy

format: .venv/check
	$(BIN)/ruff format --quiet $(LAYOUT) $(CODE)
	$(BIN)/ruff check --quiet --fix --select I $(LAYOUT) $(CODE)

bench: .venv/test
	$(BIN)/python -m tests.bench $(ARGS)

pictures: .venv/test
	$(BIN)/python -m tests.pictures $(ARGS)

schema: .venv/test
	$(BIN)/python -m tests.schema

clean:
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist demo *.egg-info
