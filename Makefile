# `make demo` and `make test` set up everything they need in .venv; the second time they start at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
STDLIB = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_path('stdlib'))")
ASK ?= How does heapq.merge combine sorted inputs, and what does the key argument do?
DOCS ?=

.PHONY: demo serve test test-llm reliability lint bench clean setup

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# Always extractive: no key is used and no document leaves the machine.
demo: $(READY)
ifeq ($(DOCS),)
	@$(BIN)/suffice ask "$(ASK)" --docs "$(STDLIB)" --exclude test/ --exclude tests/ --exclude site-packages/ \
	  --exclude idlelib/ --exclude lib2to3/ --model extractive --out demo.html --trace demo.jsonl
else
	@$(BIN)/suffice ask "$(ASK)" --docs "$(DOCS)" --model extractive --out demo.html --trace demo.jsonl
endif
	@echo "The report with its chart: demo.html. The same decision again: $(BIN)/suffice explain demo.jsonl"

# The service with its page over the standard library's source, on this machine only; DOCS=path serves something else.
serve: $(READY)
	$(BIN)/suffice serve --docs "$(or $(DOCS),$(STDLIB)/json)"

# What is too long for every change: kill -9 at every step, requests of every shape, many runs at once.
reliability: $(READY)
	cd tests && ../$(BIN)/python -W ignore -m reliability.crashes --write ../docs/reliability.md
	cd tests && ../$(BIN)/python -W ignore -m reliability.shapes
	$(BIN)/python -W ignore -m bench.load

test: $(READY)
	$(BIN)/python -m pytest

# A real language model: the one that SUFFICE_MODEL or OPENAI_BASE_URL names, else a small one on loopback if it is there.
test-llm: $(READY)
	$(BIN)/python -m pytest -m llm -rA tests/llm

lint: $(READY)
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build dist demo.html demo.jsonl .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
