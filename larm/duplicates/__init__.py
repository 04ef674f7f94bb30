"""Pages that say the same, see `larm.duplicates.aliases`."""

import os

# numpy's OpenBLAS starts a thread for each core, and each spins for 20 ms before it sleeps; nobody here multiplies matrices
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
