"""Input and output: checks, data frames, readers, files and optional packages."""
