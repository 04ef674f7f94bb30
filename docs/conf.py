"""Sphinx: the manual as a site and as a man page, from the files at the root. ``tox -e docs``."""

import importlib.metadata

project = "larm"
release = importlib.metadata.version("larm")
root_doc = "index"
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_title = f"larm {release}"
man_pages = [("manual", "larm", "crawl web sites and search them", "", 1)]
suppress_warnings = ["misc.highlighting_failure"]
