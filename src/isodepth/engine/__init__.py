"""The verbs that touch many numbers, and nothing else.

Four passes (rank, spread, gap, support) take arrays, masses and stops; `compiled` does them with
numba. Nothing above knows how.
"""
