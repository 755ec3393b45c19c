"""One file a figure or table of the paper; `python -m experiments list` names them."""
