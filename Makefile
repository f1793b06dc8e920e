# Every target sets up what it needs in .venv (and in .venv-torch where PyTorch is compared with): Python, make and a C++
# compiler are all that must be there. PYTHON chooses the interpreter, TORCH_PIP extra options for pip (a CPU-only index).
PYTHON ?= python3
VENV ?= .venv
TORCH_VENV ?= .venv-torch
BUILD ?= build
BUILD_TYPE ?= Release
PYTEST_ARGS ?= -n auto
SANITIZE := $(BUILD)/sanitize
SANITIZE_TESTS ?= tests
POISON_TESTS ?= tests/ops tests/kernels tests/nn -k "gradient or derivative or kernels or nn"
# PyTorch's operator database run against a module: opinfo_conformance.py and lists of operators.
CONFORMANCE ?= ../shared/conformance
CONFORMANCE_OPS ?= first.txt
# Workloads timed in two modules alternately, and which of them to run.
COMPARE ?= ../shared/bench/compare.py
ONLY ?= ^op/
TORCH_PIP ?=

bin := $(abspath $(VENV))/bin
torch_python := $(abspath $(TORCH_VENV))/bin/python
# OPENBLAS_CORETYPE, where a machine sets it, slows a current OpenBLAS.
run := env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE PYTHONPATH=src:.

.PHONY: build test test-poison test-one-file sanitize fuzz check demo demo-compare bench compare conformance conformance-forward exchange oracle-data wheel wheel-test clean
.DEFAULT_GOAL := build

$(VENV)/ready-%: pyproject.toml
	test -x $(bin)/python || $(PYTHON) -m venv $(VENV)
	$(bin)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(bin)/python -m pip install --quiet --group $*
	touch $@

$(TORCH_VENV)/ready: pyproject.toml
	test -x $(torch_python) || $(PYTHON) -m venv $(TORCH_VENV)
	$(torch_python) -m pip install --quiet --upgrade "pip>=25.1"
	$(torch_python) -m pip install --quiet $(TORCH_PIP) --group oracle --group test --group demo
	touch $@

build: $(VENV)/ready-build
	test -f $(BUILD)/build.ninja || $(bin)/cmake -G Ninja -S . -B $(BUILD) -DCMAKE_MAKE_PROGRAM=$(bin)/ninja \
		-DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DPython_EXECUTABLE=$(bin)/python
	$(bin)/ninja -C $(BUILD)

test: build $(VENV)/ready-test
	$(run) $(bin)/python -m pytest $(PYTEST_ARGS)

# Kernels once more, with fresh memory full of NaN: results that depend on memory that nobody wrote become NaN.
test-poison: build $(VENV)/ready-test
	VIVACE_POISON=1 $(run) $(bin)/python -m pytest $(PYTEST_ARGS) $(POISON_TESTS)

# Adds a toy operator to the catalogue, builds, finds it everywhere, takes it away again.
test-one-file: build $(VENV)/ready-test
	$(run) $(bin)/python -m pytest tests/one_file.py

# The tests on a build that checks addresses and undefined behaviour, with the pools off. Takes long: not part of .ci/run.
# CPython keeps much alive until it ends, so leaks are not looked for; its own allocator would hide what is freed too early.
sanitize: $(VENV)/ready-build $(VENV)/ready-test
	mkdir -p $(SANITIZE)
	cp -rT src $(SANITIZE)/src
	rm -f $(SANITIZE)/src/vivace/_C.*.so src/vivace/include/vivace/operators
	$(bin)/cmake -G Ninja -S . -B $(SANITIZE) -DCMAKE_MAKE_PROGRAM=$(bin)/ninja -DCMAKE_BUILD_TYPE=Sanitize \
		-DPython_EXECUTABLE=$(bin)/python -DMODULE_FOLDER=$(abspath $(SANITIZE))/src/vivace
	$(bin)/ninja -C $(SANITIZE)
	rm -f $(SANITIZE)/report.*
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0:log_path=$(SANITIZE)/report \
		UBSAN_OPTIONS=print_stacktrace=1:log_path=$(SANITIZE)/report \
		PYTHONMALLOC=malloc PYTHONPATH=$(SANITIZE)/src:. \
		$(bin)/python -m pytest $(PYTEST_ARGS) $(SANITIZE_TESTS) || { cat $(SANITIZE)/report.*; exit 1; }

# Random calls of every operator, wrong ones among them: crashes, hangs and leaks. FUZZ_ARGS="--calls 1000000" for a long run.
FUZZ_ARGS ?= --calls 100000
fuzz: build $(VENV)/ready-test
	$(run) $(bin)/python -m tools.fuzz $(FUZZ_ARGS)

check: build $(VENV)/ready-test $(VENV)/ready-lint
	$(run) $(bin)/python tools/check.py

demo: build $(VENV)/ready-demo
	$(run) $(bin)/python -m vivace examples/digits.py

# The demo, and the same script on PyTorch.
demo-compare: build $(VENV)/ready-demo $(TORCH_VENV)/ready
	$(run) $(bin)/python -m vivace examples/digits.py --pytorch $(torch_python)

bench: build $(TORCH_VENV)/ready
	$(run) $(torch_python) -m benchmarks

compare: build $(TORCH_VENV)/ready
	@test -f $(COMPARE) || { echo "Set COMPARE to the path of compare.py"; exit 1; }
	$(run) $(torch_python) $(COMPARE) --ours $(torch_python):vivace --other $(torch_python):torch --only '$(ONLY)'

conformance: build $(TORCH_VENV)/ready
	@test -f $(CONFORMANCE)/opinfo_conformance.py || { \
		echo "Set CONFORMANCE to the folder of opinfo_conformance.py"; exit 1; }
	$(run) $(torch_python) $(CONFORMANCE)/opinfo_conformance.py --module vivace --variants --grad \
		--ops-file $(CONFORMANCE)/$(CONFORMANCE_OPS) --list-failures 60

# The same for derivatives in forward mode.
conformance-forward: build $(TORCH_VENV)/ready
	CONFORMANCE=$(CONFORMANCE) $(run) $(torch_python) -m tools.forward_conformance --samples 0 --list

# Checkpoints between vivace and PyTorch, both ways.
exchange: build $(TORCH_VENV)/ready
	$(run) $(torch_python) -m tools.exchange

# PyTorch's values that the tests compare with where there is no other reference.
oracle-data: build $(TORCH_VENV)/ready
	$(run) $(torch_python) -m tools.record

# In the folder of `make build`, so that nothing is compiled again.
wheel: build
	rm -rf dist
	$(bin)/python -m pip wheel --no-deps --no-build-isolation --config-settings build-dir=$(BUILD) --wheel-dir dist .

# Installs the wheel into an environment of its own, away from the sources, uses it, and builds an extension in C++ against it.
wheel-test: wheel
	rm -rf $(BUILD)/wheel-env
	$(PYTHON) -m venv $(BUILD)/wheel-env
	$(BUILD)/wheel-env/bin/python -m pip install --quiet dist/vivace-*.whl
	cd / && $(abspath $(BUILD))/wheel-env/bin/python $(abspath tests)/wheel_smoke.py
	$(BUILD)/wheel-env/bin/python -m pip install --quiet "setuptools>=70.1"
	$(BUILD)/wheel-env/bin/python -m pip install --quiet --no-deps --no-build-isolation ./examples/cpp_extension
	cd / && EXAMPLE_SHORT=1 $(abspath $(BUILD))/wheel-env/bin/python -m vivace $(abspath examples)/cpp_extension/train.py

clean:
	rm -rf $(BUILD) dist src/vivace/_C.*.so src/vivace/include/vivace/operators
