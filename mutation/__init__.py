"""Sampled mutation testing: do the tests notice when the code is wrong?

    make mutants                                 # 150 mutants, seed 0, at most 60 minutes
    make mutants MUTANTS=300 SEED=7 MINUTES=120 JOBS=4
    make mutants ROOMS="gap theory"              # only these folders of src/isodepth
    python -m mutation --rooms theory --tests tests/theory     # only these tests

A mutant is the library with one small fault: a comparison, a sign, a constant or a condition
changed. Cosmic Ray knows how to make them; this folder chooses some at random and asks the tests.

1. The tree is copied to `out/mutation/tree`, so that editing goes on beside a run.
2. The tests run once under coverage.py, with a context for each test: for every line it is then
   known which tests execute it, and what each costs. This takes a few minutes and is kept; only
   test files that changed are run again, or all of them when the library changed.
3. Places are drawn at random (`SEED`), and one change at each. Functions compiled by numba,
   `*_loops.py`, annotations, `__all__` and the texts of errors and warnings are left out.
4. Each mutant meets the tests that execute its line, those of its room and the cheap ones
   first, until one fails or the time for one mutant is up. The mutant lives in the memory of that
   process alone (`site/sitecustomize.py`): no file of the tree ever holds it, and numba's cache,
   which looks at files, stays warm.
5. The tests that killed something run once more without a mutant: one that fails there proves
   nothing, and its mutants count as survivors.

The end is a count of killed, timed out (an endless loop: counted as killed) and survived mutants,
with the diff of each survivor, on screen and in `out/mutation/report-SEED.txt`. A run that was
stopped, or that met its time limit, goes on where it was when the same command is given again;
after a change of the tests alone, only survivors are tried again.
Survivors that cannot matter are listed with their reasons in `harmless.toml`: they are told apart.
`record.py` names the tests that are used.
"""
