"""Names and numbers of the link graph that its writers and readers share."""

JOURNAL = "links.journal"
"""Blocks of links, one after the other; a checkpoint notes its length."""
SNAPSHOT = "snapshot"
"""What was made of the journal last."""
LOCATION_BITS = 20
"""Where a page's links stand: offset of its block in the journal, shifted by so much, plus the number of its row, plus 1."""
DAMPING = 0.85
"""How often somebody follows a link and does not begin anew, as everybody has it since Brin and Page, 1998."""
HOPS = 5
"""Redirects in a row; more are followed by nobody."""
TOP = 1_000
"""Nodes that are listed by rank."""
PRECISE = 1e-4
"""The iteration of ranks ends when a sweep moves less: the L1 distance of ranks whose sum is 1."""
