"""Weights of the ranking that are no settings: the same values are best for all collections that were judged.

Searches read them each time, so that a benchmark or a test can leave parts out. The weights that users choose are in the
``search`` section of config.yaml.
"""

TITLE, URL, DESCRIPTION, MAIN, OTHER = 2.0, 0.5, 0.5, 1.0, 0.3
"""Weights of a word by the part of the page; menus (OTHER) are on all pages of a site."""
CANDIDATES = 100
"""Pages that the index proposes for each query, to be weighed (YIOOP-54); 200 are no better."""
LINK_RANK = 0.5
"""Weight of the importance of a page."""
TIE = 0.4
"""Share of a score that further fields and forms of a word add to the best one. 1: all of it."""
OTHER_FORMS = 0.9
"""Weight of a form of a word that was not typed: crawlers for crawler."""
FUNCTION_WORDS = 0.1
"""Weight of "the" and "and", next to what their rarity says."""
RARITY = 0.2
"""Exponent that gives rare words more weight than BM25 does. 0: as BM25."""
FIELD_RARITY = 0.3
"""Share of a word's rarity that goes by the number of pages with it in this field, as few titles have a word of all pages."""
COVERAGE = 0.4
"""Weight of having a word at all, beside having it often."""
ALL_WORDS = 0.3
"""Weight of having all words, beside that of the most important one."""
WITHIN_NAMES = 0.4
"""Weight of the words of names such as os.path where they stand apart."""
PROXIMITY = 0.3
"""Weight of neighbours of the query that stand near each other."""
PROXIMITY_SLOP = 4
"""Number of words between two neighbours of the query that still stand near each other."""
FEEDBACK = 1.0
"""Weight of words that the best pages share, beside those of a question of nine words or more."""
PASSAGES = 0.6
"""Weight of the best passage of a long page, beside the page as a whole. 0: pages are not read for it."""
