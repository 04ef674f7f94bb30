"""The link graph, see `larm.graph.block`.

numpy's OpenBLAS starts a thread for each core, and each spins for 20 ms before it sleeps; nobody here multiplies matrices.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy
