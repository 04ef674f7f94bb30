"""YouSearch: one search over the indexes of many people, without a central index.

Each peer sends a registrar a Bloom summary of its words (`summary`). A search asks the registrar which summaries have the words
(`summaries`), and then these peers. `needs` has the words that a page must have, `canonical` one form for equal queries.
"""
