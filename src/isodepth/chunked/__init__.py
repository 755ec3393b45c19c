"""Samples larger than memory: sources of chunks, mergeable summaries, and passes over chunks."""
