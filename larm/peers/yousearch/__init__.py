"""YouSearch: many people's indexes, one search, nobody's index in the middle.

Each peer tells a registrar which words it has, as a Bloom summary (`summary`); who searches asks the registrar whose summary
has the words (`summaries`), and then these peers. `needs` says which words a query cannot do without, `canonical` when two are
the same.
"""
