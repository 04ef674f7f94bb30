"""How alike two orders are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt


def kendall_tau(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite one, ties counted out. Compares all pairs."""
    together = first = second = 0
    for (a, x), (b, y) in combinations(zip(left, right, strict=True), 2):
        above = (a > b) - (a < b)
        over = (x > y) - (x < y)
        together += above * over
        first += above * above
        second += over * over
    return together / sqrt(first * second) if first and second else 0.0
