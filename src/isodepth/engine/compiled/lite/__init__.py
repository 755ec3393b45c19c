"""A small compiler: from loops in a plain subset of Python straight to the language of LLVM."""
