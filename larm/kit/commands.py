"""Commands of larm that a sentence advises, to be copied as they are. Pure; whoever tells a person what to do next."""

import shlex


def command(*words: str) -> str:
    """``'larm WORDS'``, its words quoted for a shell; `larm.cli.terminal` adds where the crawl is."""
    return f"'{shlex.join(('larm', *words))}'"
