# Habilis. `make` alone lists what there is. Needs Python 3.11 or newer; the first target that needs it makes .venv.

# Some machines forbid bytecode, which makes every start three times slower; others point Python elsewhere.
unexport PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX

# The question goes to the recipe through the environment and exactly as typed: make would expand the $ in it,
# the shell its quotes. Q itself must not be exported, since make expands what it exports.
unexport Q
export HABILIS_QUESTION := $(value Q)
MAKEOVERRIDES =

python := .venv/bin/python
# Two more than there are cores: much of the suite waits for processes and time limits.
jobs ?= $(shell expr 2 + `getconf _NPROCESSORS_ONLN`)

.DEFAULT_GOAL := help
.PHONY: help setup run evolve doctor check format test test-promises test-browser test-postgres test-ray test-all docs pictures hooks rooms golden bench mutants lock wheel clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## */\1|/p' Makefile | while IFS='|' read -r name what; do printf '  make %-13s %s\n' "$$name" "$$what"; done

setup: ## make .venv, once
	@sh .ci/set-up

run: setup ## answer a question: make run Q="What is 2+3*4?" [ARGS="--file data.csv --json"]
	@if [ -z "$$HABILIS_QUESTION" ]; then echo 'usage: make run Q="your question" [ARGS="--file data.csv"]' >&2; exit 2; fi
	@.venv/bin/habilis run $(ARGS) -- "$$HABILIS_QUESTION"

evolve: setup ## train on the shipped benchmark, offline: table, plot, library [ARGS="--batch-size 4"]
	@plot=; if $(python) -c 'import matplotlib' 2>/dev/null; then plot='--plot runs/benchmark.png'; \
	  else echo 'matplotlib is not installed, so there is no picture' >&2; fi; \
	  .venv/bin/habilis evolve -c offline --dataset examples/benchmark/tasks.jsonl --batch-size 8 --merge-policy model \
	  $$plot $(ARGS)

doctor: setup ## say which model, sandbox and library this machine has
	@.venv/bin/habilis doctor

check: setup ## formatting, lint, types, layers
	@$(python) -m ruff format --quiet --check . || { echo 'run: make format' >&2; exit 1; }
	@$(python) -m ruff check --quiet .
	@$(python) -m mypy --no-error-summary & types=$$!; \
	  $(python) -m pytest -q -p no:cacheprovider tests/test_architecture.py; layers=$$?; $(beside) wait $$types && exit $$layers

rooms: setup ## print every room of the source, with its rank, lines and imports
	@$(python) tests/house.py

format: setup ## bring the source into form
	@$(python) -m ruff check --quiet --fix .
	@$(python) -m ruff format --quiet .

# What tests are compiled to is written once, beside the check of types, and not by each worker at the same time.
test test-all: beside = $(python) -m pytest --collect-only -qq -p no:cacheprovider > /dev/null;

test: check ## check, then all tests but the slow ones, on all cores
	@$(python) -m pytest -n $(jobs) -m 'not slow' --ignore tests/test_architecture.py

test-promises: setup ## the slow tests that carry promises: crashes, resume, faults, attacks, conformance, conservation
	@$(python) -m pytest -n $(jobs) --maxschedchunk 1 -rs -m promise

# Where the browser cannot be had, the lines before the tests and the reasons of the skipped ones say so.
test-browser: setup ## the pages of 'habilis view' in Chromium, which is installed where that can be done
	@sh .ci/set-up-browser || echo 'The tests in a browser are skipped.' >&2
	@$(python) -m pytest -n 0 -rs -m browser tests/view

test-postgres: setup ## runs kept in PostgreSQL, over a server that the tests start; it is installed where that can be done
	@sh .ci/set-up-postgres || echo 'The tests over PostgreSQL are skipped.' >&2
	@$(python) -m pytest -n $(jobs) -rs -m postgres tests/store tests/training

test-ray: setup ## tasks on the nodes of a Ray cluster of this machine; Ray and PostgreSQL are installed where that can be done
	@sh .ci/set-up-postgres && sh .ci/set-up-ray || echo 'The tests over Ray are skipped.' >&2
	@$(python) -m pytest -n 0 -rs -m ray tests/training

test-all: check ## check, then all tests
	@$(python) -m pytest -n $(jobs)

docs: setup ## write the reference pages from the code and build site/, with every link checked
	@$(python) docs/generate.py
	@$(python) -m sphinx --quiet --fresh-env --write-all --nitpicky --fail-on-warning --keep-going -c docs . site

pictures: setup ## take the pictures of the documentation anew: a training with the offline model, seen in Chromium
	@sh .ci/set-up-browser
	@$(python) docs/take_pictures.py

hooks: setup ## let git run the quick checks before each commit
	@.venv/bin/pre-commit install

golden: setup ## render the prompts anew into tests/golden, for review
	@$(python) tests/test_prompts.py

bench: setup ## measure speed, memory and cost; prints one Markdown table
	@$(python) benchmarks/run.py

mutants: setup ## change the code in six places and see whether tests notice [ARGS="--place gate --sample 40"]
	@$(python) benchmarks/mutants.py $(ARGS)

lock: setup ## resolve the lock files anew from pyproject.toml
	@.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
	  --no-annotate --group dev pyproject.toml -o requirements.lock
	@.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
	  --no-annotate --constraint requirements.lock --group browser -o requirements-browser.lock
	@.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-header \
	  --no-annotate --constraint requirements.lock --group ray -o requirements-ray.lock

wheel: setup ## build dist/*.whl
	@.venv/bin/uv build --wheel --no-build-isolation --quiet

clean: ## remove .venv and everything built; runs/ stays
	@rm -rf .venv dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
