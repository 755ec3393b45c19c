"""Samples that do not fit: sources of chunks, mergeable summaries, passes that end in a table."""
