"""Input and output: checks of arguments, data frames, file formats, and optional packages."""
