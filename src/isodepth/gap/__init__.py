"""The supremum over directions of |h_X(u) - h_Y(u)|, for all levels at once."""
