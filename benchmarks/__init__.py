"""Benchmarks: run by hand, from the folder above, as ``python -m benchmarks.versus`` and the like. Not shipped."""
