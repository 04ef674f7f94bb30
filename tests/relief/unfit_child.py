"""A reading process that can't read: for tests. ``python -m tests.relief.unfit_child MEMORY``."""

raise ImportError("its parser is broken")
