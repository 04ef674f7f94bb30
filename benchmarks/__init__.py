"""Benchmarks: run by hand, from the folder above, as ``python -m benchmarks.versus`` and the like. Not shipped.

Python takes the larm of the folder that it is started in, which has what is compiled only after ``pip install -e .``.
"""

import sys
from importlib.util import find_spec

for _name in ("larm.parse.compiled", "larm.index.compiled", "larm.index.duplicates.compiled"):
    if find_spec(_name) is None:
        print(
            f"benchmarks: there is no {_name}, so pages take some twenty times as long; 'pip install -e .' makes it",
            file=sys.stderr,
        )
