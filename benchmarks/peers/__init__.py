"""What isodepth is timed beside."""
