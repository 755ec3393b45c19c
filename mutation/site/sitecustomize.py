"""Replaces the source of one module while it is imported: Python runs this file at every start.

It also reaches the processes that a test starts. Nothing happens unless `MUTATION_MODULE` is set.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class MutantLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its file, with the mutated text instead of what the file says."""

    def get_code(self, fullname):
        with open(os.environ["MUTATION_SOURCE"], encoding="utf-8") as file:
            return compile(file.read(), self.path, "exec", dont_inherit=True)


class MutantFinder(importlib.abc.MetaPathFinder):
    """Finds the one module that is mutated and leaves all others to Python."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != os.environ["MUTATION_MODULE"]:
            return None
        file = os.environ["MUTATION_FILE"]
        package = [os.path.dirname(file)] if file.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=MutantLoader(fullname, file),
            submodule_search_locations=package,
        )


if "MUTATION_MODULE" in os.environ:
    sys.meta_path.insert(0, MutantFinder())
