# `make demo` and `make test` need only Python 3.11+ and make: the environment is built on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ROOMS := __init__.py __main__.py version.py bench checks cli config models release report signing templates

.PHONY: demo test check bench lock clean
.DEFAULT_GOAL := test

$(READY): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11; hint: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@# Start-up is a budget here, and some environments forbid Python to keep what it compiles.
	$(BIN)/python -m compileall -q -j 0 $(ROOMS)
	@touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

test: $(READY)
	$(BIN)/python tests/services/prepare.py
	$(BIN)/python -m pytest -n auto -m "not alone"
	$(BIN)/python -m pytest -m alone

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python -m pytest -q tests/test_imports.py tests/test_packaging.py tests/docs tests/github/test_files.py

bench: $(READY)
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# Refresh the development lock file (hashes for every platform and Python).
lock:
	$(PYTHON) -m venv .cache/uv && .cache/uv/bin/python -m pip install --quiet uv
	.cache/uv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra cpu --extra helm --extra pkcs11 --extra tokenizers --group dev -o requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) .cache build dist *.egg-info
