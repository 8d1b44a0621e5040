# `make demo` and `make test` need Python 3.11 or newer; everything else is installed into .venv.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
REPORTS := build/reports
JOBS ?= 2

.PHONY: demo test check docs bench lock clean

demo: $(INSTALLED)
	$(BIN)/deeprefine-db demo

test: check
	mkdir -p $(REPORTS)
	DEEPREFINE_TEST_ENGINE=kuzu $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --junit-xml=$(REPORTS)/kuzu.xml
	DEEPREFINE_TEST_ENGINE=ladybug $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m engine --junit-xml=$(REPORTS)/ladybug.xml

check: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(INSTALLED)
	$(BIN)/python docs/generate.py

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

$(INSTALLED): requirements-dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; say where it is with PYTHON=…" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q deeprefine_graphdb loaders tests
	touch $@

# Needs uv. Versions and hashes for every platform, no addresses.
lock:
	uv pip compile pyproject.toml --group dev --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header --output-file requirements-dev.txt

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
