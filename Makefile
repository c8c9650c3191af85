# SPDX-License-Identifier: Apache-2.0
# Everything runs in a virtual environment of its own, .venv, which the first command makes.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test check format bench clean

help:
	@echo "make demo    a whole session on this machine: servers, emulated meter, contestant, score"
	@echo "make test    the tests"
	@echo "make check   lint and types"
	@echo "make bench   speed, as ratios against peers measured in the same run"
	@echo "make format  lay the code out as 'make check' wants it"

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	touch $@

# What is installed depends on setup.cfg alone: the package itself is used in place.
.venv/run: .venv/made setup.cfg
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/test: .venv/made setup.cfg
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

.venv/check: .venv/test
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,check]'
	touch $@

demo: .venv/run
	$(BIN)/python -m referee demo $(ARGS)

test: .venv/test
	$(BIN)/python -m pytest -n 2 $(ARGS)

check: .venv/check
	$(BIN)/black --quiet --check --diff --line-length 100 referee power client_sample tests
	$(BIN)/isort --check referee power client_sample tests
	$(BIN)/flake8 referee power client_sample tests
	$(BIN)/mypy

format: .venv/check
	$(BIN)/black --quiet --line-length 100 referee power client_sample tests
	$(BIN)/isort --quiet referee power client_sample tests

bench: .venv/test
	$(BIN)/python -m tests.bench $(ARGS)

clean:
	rm -rf .venv build dist demo *.egg-info
