"""Two-sample tests by permutation, Fisher's exact test, and the test martingale of ranks."""
