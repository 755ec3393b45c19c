"""Level of the two-sample test for untidy tables: equal distributions, 5%."""
