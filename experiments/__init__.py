"""One file per figure or table of the paper; `python -m experiments list` lists them."""
