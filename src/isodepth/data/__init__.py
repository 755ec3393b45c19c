"""What comes in and goes out: checks, frames, readers, files, optional packages."""
