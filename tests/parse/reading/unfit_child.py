"""A reading process that can't read: for tests. ``python -m tests.parse.reading.unfit_child MEMORY``."""

raise ImportError("its parser is broken")
