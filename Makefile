# `make demo` and `make test` create .venv with everything they need; later calls start at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements-dev.lock
STDLIB = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_path('stdlib'))")
ASK ?= What is this about?
DOCS ?=

.PHONY: help setup setup-locked lock test test-llm lint bench docs screenshots demo serve reliability release clean

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-13s %s\n", $$1, $$2}'

# The oldest Python that the package supports; an older one gets one line instead of a dependency's error.
CHECK_PYTHON = @$(PYTHON) -c "import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or \
  sys.exit('suffice needs Python 3.11 or newer; $(PYTHON) is ' + v + '. Name another: make PYTHON=python3.12')"

setup: $(READY) ## Create .venv and install suffice for development.

$(READY): pyproject.toml
	$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

setup-locked: ## The same, with the exact versions of the lock file, checked by hash.
	$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $(READY)

lock: ## Write the lock file for development, for every platform and Python version.
	$(PYTHON) -m venv build/uv
	build/uv/bin/python -m pip install --quiet uv
	build/uv/bin/uv pip compile pyproject.toml --extra dev --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command 'make lock' --output-file $(LOCK)

test: $(READY) ## Run all tests except those that need a language model.
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# Uses the model of SUFFICE_MODEL or OPENAI_BASE_URL, or a small one on this machine if there is one.
test-llm: $(READY) ## Run the tests that need a real language model.
	$(BIN)/python -m pytest -m llm -rA tests/llm

lint: $(READY) ## Check style, format and types.
	$(BIN)/ruff check src tests bench docs examples training
	$(BIN)/ruff format --check src tests bench docs examples training
	$(BIN)/mypy

bench: $(READY) ## Measure quality and speed.
	$(BIN)/python -m bench

docs: $(READY) ## Build the documentation site in build/docs; a broken link is an error.
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs build/docs

screenshots: docs ## Take the pictures of the documentation, and one of every view in build/screenshots; needs chromium.
	$(BIN)/python -m bench.screenshots
	$(BIN)/python -m bench.screenshots build/screenshots

# Uses the extractive model: no key is needed and no document leaves this machine.
DEMO = @$(CURDIR)/$(BIN)/suffice ask --model extractive --quiet
demo: $(READY) ## Ask two questions of the examples and one of the standard library, or ASK="…" of DOCS=path.
ifeq ($(DOCS),)
	$(DEMO) "How can meadows, verges and allotments help wild bees?" --docs examples/documents/papers --out demo.html
	$(DEMO) "By how much may the hosting fee be raised?" --docs examples/documents/contracts
	@echo && echo "Now one of the standard library: the first time, its index takes a minute." && echo
	@cd "$(STDLIB)" && $(CURDIR)/$(BIN)/suffice ask "What does secrets.token_hex return?" --docs . --model extractive \
	  --exclude test/ --exclude tests/ --exclude site-packages/ --exclude idlelib/ --exclude lib2to3/
else
	$(DEMO) "$(ASK)" --docs "$(DOCS)" --out demo.html
endif
	@echo "A report with its chart is in demo.html. Why a search stopped: $(BIN)/suffice explain last"

serve: $(READY) ## Start the service on this machine, over part of the standard library or DOCS=path.
	$(BIN)/suffice serve --docs "$(or $(DOCS),$(STDLIB)/json)"

reliability: $(READY) ## Long tests: many examples of each property, kill -9 at every step, attacks, requests of every shape, leaks, installing, load, a soak.
	$(BIN)/python -m pytest -n 2 --dist loadfile --hypothesis-profile thorough $$(grep -rl --include='test_*.py' '@given' tests)
	cd tests && ../$(BIN)/python -W ignore -m reliability.crashes --write ../docs/reliability.md
	cd tests && ../$(BIN)/python -W ignore -m reliability.shapes
	cd tests && ../$(BIN)/python -W ignore -m reliability.fixes
	cd tests && ../$(BIN)/python -W ignore -m reliability.attacks --write ../docs/reliability.md
	cd tests && ../$(BIN)/python -W ignore -m reliability.leaks
	cd tests && ../$(BIN)/python -W ignore -m reliability.install
	cd tests && ../$(BIN)/python -W ignore -m reliability.soak --minutes 30
	$(BIN)/python -W ignore -m bench.load
	$(BIN)/python -W ignore -m bench.load --mixed

release: $(READY) ## Build wheel and source archive in dist/, install and try both, write checksums and a bill of materials.
	rm -rf dist build/release build/sbom
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --upgrade pip build twine cyclonedx-bom
	build/release/bin/python -m build --outdir dist .
	build/release/bin/twine check --strict dist/*
	cd tests && ../$(BIN)/python -W ignore -m reliability.install ../dist/*.whl ../dist/*.tar.gz
	$(PYTHON) -m venv build/sbom && build/sbom/bin/python -m pip install --quiet dist/*.whl
	build/release/bin/cyclonedx-py environment build/sbom/bin/python --output-reproducible --output-file dist/suffice.cdx.json
	cd dist && sha256sum * > SHA256SUMS
	@ls -l dist

clean: ## Remove .venv and everything generated.
	rm -rf $(VENV) build dist demo.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
