"""An index without a centre, after YaCy: peers on a ring, words and references at those that follow them, no server.

What is here is pure or has its I/O handed in, so that the simulation drives the classes that production uses. To read in this
order: `hashes` (what a place on the ring is), `ring` (who is responsible for a place), `seed` (what a peer says of itself),
`membership` (who is there), `chunk` (what is handed over), `shelf` (what is kept for others), `spreading` (what goes to whom),
`asking` (how a search is asked), `counting` and `local` (how what it finds is ranked), `node` and `service` (all together).
"""
