"""The fields of the index, and the doors to its directory. Stateless; called by the writer and the reader.

tantivy-py trap: `Document(generation=1)` takes a Python int for a *signed* number, which kills the indexing thread much later;
only `add_unsigned` is right.
"""

from collections.abc import Iterable
from pathlib import Path

import tantivy

from larm.index import fields
from larm.index.analysis import MIXED, WORDS, new_analyzer
from larm.index.failure import IndexFailure
from larm.kit.disk.files import is_there


def build_schema() -> tantivy.Schema:
    """Return the schema; an index that has another one is refused."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(fields.KEY, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(fields.PAGE, indexed=True, fast=True)
    builder.add_text_field(fields.URL, stored=True, tokenizer_name="raw", index_option="basic")
    for name in (fields.URL_WORDS, fields.HEADINGS):  # by way of AnyScript
        builder.add_text_field(name, tokenizer_name=WORDS)
    for name in (fields.TITLE, fields.DESCRIPTION):
        builder.add_text_field(name, stored=True, tokenizer_name=MIXED)
    builder.add_text_field(fields.MAIN, stored=True, tokenizer_name=WORDS)
    builder.add_text_field(fields.SIGNS, stored=True, tokenizer_name=MIXED)
    builder.add_text_field(fields.OTHER, tokenizer_name=WORDS)
    builder.add_text_field(fields.AS_WRITTEN, tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field(fields.META, tokenizer_name="whitespace", index_option="basic")
    builder.add_text_field(fields.LANGUAGE, stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(fields.MIME, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(fields.QUOTE, stored=True)
    for name in (fields.MODIFIED, fields.FETCHED, fields.SIZE):
        builder.add_unsigned_field(name, stored=True, indexed=True, fast=True)
    for name in (fields.LENGTH, fields.DIGEST):
        builder.add_unsigned_field(name, fast=True)
    builder.add_unsigned_field(fields.GENERATION, indexed=True, fast=True)
    for name in (fields.OWN, fields.SECTIONS):
        builder.add_bytes_field(name, stored=True)
    return builder.build()


def open_index(path: Path, stands_for: Path | None = None) -> tantivy.Index:
    """Open the index, or make a new one in an empty directory. Raises StorageError.

    ``stands_for``: the index that messages are about, if it is another one.
    """
    with IndexFailure(stands_for or path):
        index = tantivy.Index(build_schema(), path=str(path))
        for name in (WORDS, MIXED):
            index.register_tokenizer(name, new_analyzer(name))
        index.config_reader("manual")  # "commit", the default, is a thread that watches the directory
    return index


def index_exists(path: Path) -> bool:
    """A directory that holds an index, be it damaged. Raises StorageError where it can't be looked into."""
    return is_there(path / "meta.json")


def total(result: tantivy.SearchResult) -> int:
    """How many documents match; tantivy's stubs have forgotten it."""
    return int(result.count)  # type: ignore[attr-defined]


def these(schema: tantivy.Schema, pages: Iterable[int]) -> tantivy.Query:
    """The documents of these pages, without a say in the score: 7 us each among a million, where a set of terms takes 16 ms."""
    terms = [tantivy.Query.term_query(schema, fields.PAGE, page, index_option="basic") for page in pages]
    return tantivy.Query.const_score_query(tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms]), 0.0)
