"""Pages that say the same, see `larm.duplicates.aliases`."""

import larm.kit.one_blas_thread  # noqa: F401  before numpy
