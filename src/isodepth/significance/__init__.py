"""Two-sample tests by permutation of the labels of pooled rows, and Fisher's exact test."""
