"""What was held back by rules that are others now, or by a pattern that is reopened, goes on. Pure; under the book's lock."""

from larm.frontier.traps.host_traps import HostTraps
from larm.frontier.traps.records import PatternRecord, State
from larm.frontier.traps.rounds import undecided
from larm.frontier.traps.rules import TrapRules


def resume(traps: HostTraps, rules: TrapRules, rule: int, *, release: bool) -> bool:
    """Of an earlier run; whether anything is different now. ``rule``: as `HostTraps.rule`, 0 where repetition is not asked for.

    ``release``: all of it goes on, and what comes of it as well, until its patterns are found out once more.
    """
    traps.released = release
    before = traps.rule, traps.counted, [record.leaving for record in traps.records.values()]
    for record in traps.records.values():
        if release or _is_free(record, rules, rule):
            _let_go(record, forced=release)
        if record.closed and record.state is not State.LIMIT:
            if release or not rule:
                record.open()
            elif traps.rule != rule:
                record.state, record.failures = State.CLOSED, 0
    if release:
        traps.current, traps.round, traps.failed, traps.searched = 0, None, 0, 0
    traps.rule = rule
    traps.counted = undecided(traps)
    return before != (traps.rule, traps.counted, [record.leaving for record in traps.records.values()])


def reopen(traps: HostTraps, pattern: str) -> None:
    """All that is held back by the pattern of this text goes on, and it begins anew."""
    for key, record in traps.records.items():
        if record.text == pattern:
            if traps.current == key:
                traps.current, traps.round = 0, None
            _let_go(record, forced=True)
            if record.state is not State.LIMIT:
                record.open()
    traps.counted = undecided(traps)


def _is_free(record: PatternRecord, rules: TrapRules, rule: int) -> bool:
    if record.state is State.LIMIT:
        return not rules.holds(record.text)
    return not rule


def _let_go(record: PatternRecord, *, forced: bool) -> None:
    record.leaving, record.sifting, record.forced = record.held, False, forced
