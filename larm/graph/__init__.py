"""The link graph, see `larm.graph.block`."""

import larm.kit.one_blas_thread  # noqa: F401  before numpy
