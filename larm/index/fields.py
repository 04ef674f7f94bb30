"""Names of the fields of the index. Pure, and free of tantivy."""

KEY = "key"  # the normalised URL: one document for each; never shown
PAGE = "page"  # fingerprint of the normalised URL: by it the link graph and other indexes know the page
URL = "url"  # as it was fetched

# what is searched for words, in the order of how much a word says there
TITLE = "title"
HEADINGS = "headings"
URL_WORDS = "url_words"
DESCRIPTION = "description"
MAIN = "main"  # main text of pages in scripts with spaces between words
SIGNS = "signs"  # main text of pages in other scripts, and such passages of all pages
AS_WRITTEN = "as_written"  # what words do not say: symbols.py, accents.py, defined.py
OTHER = "other"  # menus, headers, footers

META = "meta"  # meta words, see meta_words.py
LANGUAGE = "language"
MIME = "mimetype"  # LARM-88
MODIFIED = "modified"  # seconds since 1970; 0: not known
FETCHED = "fetched"  # the same
SIZE = "size"  # bytes of the page
LENGTH = "length"  # characters of the main text
DIGEST = "digest"  # of what a reader sees; 0: nothing
QUOTE = "quote"  # at most so many characters may be shown; not there: any number
GENERATION = "generation"  # number of the commit that brought the document; for recovery

OWN = "own"  # fields of the user's, see own_fields.py
SECTIONS = "sections"  # headings of the main text that have an address of their own, see sections.py
