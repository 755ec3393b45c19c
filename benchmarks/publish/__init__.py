"""Output of the measurements: checks of targets, a figure, and pages."""
