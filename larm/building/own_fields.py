"""Fields of documents, as ``sites`` and ``storage.index.fields`` in config.yaml have them. Called on the main thread."""

from larm.config import Config, PageRules
from larm.errors import ConfigError
from larm.model.own_fields import is_field_name


def page_rules(settings: Config) -> dict[str, tuple[PageRules, ...]]:
    """Those of all sites that have any."""
    return {name: site.pages for name, site in settings.sites.items() if site.pages}


def field_names(settings: Config) -> list[str]:
    """Fields of documents that these settings speak of, in order."""
    ruled = [name for rules in page_rules(settings).values() for rule in rules for name in rule.fields]
    return list(dict.fromkeys([*ruled, *settings.storage.index.fields]))


def check_fields(settings: Config) -> None:
    """Raises ConfigError for names and selectors that are none."""
    names = field_names(settings)
    if names:
        from larm.index.search.operators import OPERATORS  # for who has fields
    for name in names:
        if not is_field_name(name):
            raise ConfigError(f"{name}: no name for a field; expected lower-case letters, digits and _, 40 characters at most")
        if name in OPERATORS:
            raise ConfigError(f"{name}: no name for a field: {name}: asks for something else in a search")
    rules = page_rules(settings)
    if rules:
        from larm.parse.page_rules import Rules  # with the parser, for who has rules

        for site, of_site in rules.items():
            try:
                Rules({site: of_site})
            except ValueError as error:
                raise ConfigError(f"sites.{site}.pages: {error}") from error
