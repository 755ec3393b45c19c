"""What is made of the measurements: checks of the targets, a figure, the pages."""
