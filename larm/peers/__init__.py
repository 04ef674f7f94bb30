"""Other machines' indexes: remote ends of a search, and peers, who are strangers with a key.

`larm.fetch.http_client` is the one way out: a request with a deadline and a bounded answer. `channel` and `door` are the two
ends of a signed request (`signing`), which `larm.web` serves below ``/peer/v1/``. Nothing here is imported before it is used.
"""
