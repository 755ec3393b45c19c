"""Functions of a row whose means are compared by the test, the tolerance and the monitor."""
