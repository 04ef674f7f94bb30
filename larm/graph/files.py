"""Names and numbers that those who write the link graph and those who read it must agree on."""

JOURNAL = "links.journal"
"""Blocks of links, one after the other; a checkpoint notes its length."""
SNAPSHOT = "snapshot"
"""What was made of the journal last."""
LOCATION_BITS = 20
"""Where a page's links stand: offset of its block in the journal, shifted by so much, plus the number of its row, plus 1."""
DAMPING = 0.85
"""How often somebody follows a link and does not begin anew, as everybody has it since Brin and Page, 1998."""
