# The developer's whole vocabulary. `make` shows it.
.DEFAULT_GOAL := help
BIN := .venv/bin
PYTHON ?= python3
# Tests run in this many processes, a file in one of them; JOBS=0 runs them in one, with its output as it comes.
JOBS ?= 2
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: help setup setup-dev training llm ray search evaluate test test-training test-rest test-slow lint format docs dashboard bench gpu gpu-train docker clean

help:            ## what one can say here
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/ \t/' | expand -t 16

setup:           ## make .venv and node_modules, once; quick the second time
	@PYTHON=$(PYTHON) sh scripts/setup.sh

setup-dev:       ## the same, with what tests and lint need
	@PYTHON=$(PYTHON) sh scripts/setup.sh dev

training:        ## the same, with torch (2.8 GB to download; TORCH_INDEX=URL takes another build, docs/install.md)
	@PYTHON=$(PYTHON) sh scripts/setup.sh dev training

llm:             ## the same, with transformers, TRL and peft for language models (docs/llm.md)
	@PYTHON=$(PYTHON) sh scripts/setup.sh dev training llm

ray:             ## what the tests need, with Ray, for runs on many machines (docs/scale.md)
	@PYTHON=$(PYTHON) sh scripts/setup.sh dev ray

search: setup    ## build poke-engine for search:mcts, once a generation (needs cargo): ARGS="1 9" picks
	@sh scripts/setup_search.sh $(ARGS)

evaluate: setup  ## every agent against every other, on a short budget: ARGS="..." adds options
	@$(BIN)/arena evaluate --all $(ARGS)

test: setup-dev  ## the tests; those that need torch only where it is installed: ARGS="-k store" picks
	@$(PYTEST) -m "not slow" $(ARGS)

test-training: training ## only the tests that need torch, but for the slow ones
	@$(PYTEST) -m "torch and not slow" $(ARGS)

test-rest: training ## all that `make test` leaves out without torch: what needs torch, and the slow ones
	@$(PYTEST) -m "torch or slow" $(ARGS)

test-slow: setup-dev ## those that take longer: kills, long runs, statistics
	@$(PYTEST) -m slow $(ARGS)

lint: setup-dev  ## format check, lint, types
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy

format: setup-dev ## write the format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

docs:            ## docs/ as one browsable folder, site/, that loads nothing from elsewhere; a broken link fails
	@PYTHON=$(PYTHON) sh scripts/setup.sh docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build $(ARGS) && echo "docs: open site/index.html"

dashboard:       ## the dashboard on http://127.0.0.1:8700/, until Ctrl-C: ARGS="--db FILE" picks a database
	@PYTHON=$(PYTHON) sh scripts/setup.sh dashboard
	@$(BIN)/arena dashboard $(ARGS)

bench: setup-dev ## battles a second, against poke-env over a local Showdown server
	@$(BIN)/python scripts/bench/throughput.py $(ARGS)

gpu: training    ## measure the project on this machine's GPU: tables on the terminal, all of it in gpu/ (docs/gpu.md)
	@$(BIN)/python scripts/gpu/measure.py --out gpu $(ARGS)

gpu-train: training    ## train policy:gen1ou further on this machine's GPU for seven minutes: gpu/ppo.tar (docs/gpu.md)
	@$(BIN)/python scripts/gpu/measure.py --out gpu --parts compiling ppo $(ARGS)

docker:          ## build the image that trains, on NVIDIA GPUs or the CPU (docs/container.md): BASE=IMAGE, TORCH_INDEX=URL
	@sh scripts/container/build.sh

clean:           ## remove what set-up made (never a database)
	rm -rf .venv node_modules
