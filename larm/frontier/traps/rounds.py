"""Rounds: what a host's closed patterns hold back is asked for, part by part, till it is known whether it comes to an end.

Pure: `next_step` is called, under the lock of the `HostBook`, when the host has nothing else to do and all that its pages have
brought was judged; it says what goes on. A round is over the addresses P that a pattern holds back when it begins; they are
asked for in the order in which they were found, `_PART` at a time, and what they bring is the next P.

- A part is *worth while* if one page in ten of it, or of what it led to, says something new; where it does not reproduce, one
  in 32 is enough, as in the twelfth version of a manual. It costs nothing, and each such page pays for as many of any part.
- A part *reproduces* if each of its pages brings more than two unseen addresses that have to be held back. That costs nothing
  until the host has had a quarter as many pages again as when the first such round began, and `_SURE` in all, or
  `_SURE_OF_NAMES` where nearly all have a title of their own. If they bring as many then as at first, it is a trap; a large
  site is running dry by then, and is looked at again after as many pages again.
- Any other part has leaves. It costs nothing while it was known before any round, and such parts say something new now and
  then, or bring no more than they take; nor where it hardly brings anything, and others of its round have said something, or
  it has no parameters; on a host with a trap only if it brings no more than it takes, all have one path but for numbers, as
  products that differ in a number, and were not found on pages like which others are held back, as the days of a calendar's
  months are; nor where nearly all pages have a title of their own; nor in a run that asks for all that was held back, if it
  brings no more than it takes. All others together may cost as many requests as the host has had else, or as many as make
  `_DUE` with these.
- A round of which more than half comes back has *failed*, unless it is far less than of the one before. After three in a row
  it is a trap, unless they have cost little, or the host has had less than `_DUE`; or `_SURE_OF_NAMES`, where it grows and
  nearly all have a title of their own.
- Where nothing is left, the pattern opens.
- A pattern that was closed as its pages are barren (`larm.model.novelty`) has one part; it opens if one of its pages is not so,
  and else all that is left of it stays.
"""

from typing import NamedTuple

import msgspec

from larm.frontier.traps.host_traps import PARAMETER, HostTraps
from larm.frontier.traps.limits import TrapRules
from larm.frontier.traps.records import PatternRecord, Round, State
from larm.model.message import URLMessage
from larm.model.url_shape import SHAPE, parts_of

BATCH = 1000
"""Addresses that go on at a time."""
_PART, _GLANCE = 96, 32
"""Addresses of a part; and of the first one, where the host has a trap already."""
_NEW = 10
"""One page in so many that says something new makes a part worth while that reproduces."""
_HARDLY = 32
"""And any other part one in so many; there is still something to be found, however many others they bring."""
_MANY = 2
"""Unseen addresses that a page of a part may bring."""
_TIMES = 3
"""Parts in a row that reproduce, rounds in a row that fail, parts in a row that say nothing new: once may be chance."""
_DULL = 5
"""The last, where parts before them have said something: the days of a whole year without events."""
_GROWN = 4
"""A host has to have had one in so many pages again before what reproduces is a trap."""
_SURE = 800
"""And so many in all: of a family tree in which each has three children, two thirds have none, and are found last."""
_SURE_OF_NAMES, _MOST = 8000, 4
"""So many in all where all but one of so many pages have a title of their own, as people with their dates: in a tree of 20,000
of whom each may have three children the first third has, and nothing of it says that there is an end."""
_DRY = 0.6
"""What a part brings, of what the first one did, where a site is running dry."""
_DUE = 1100
"""Pages that a host has before a chain is a trap or anything is put off: many sites of 1,000 say hardly anything new."""
_CHAINS, _CHAINS_SHARE = 600, 10
"""Pages that rounds that failed may cost a host: so many, or one in so many of its pages. Lists have next pages, too."""


class Step(NamedTuple):
    """What follows."""

    go: list[URLMessage]
    """These go on."""
    lines: list[str]
    """For the log."""
    over: bool
    """Nothing is left to decide for now."""


def undecided(traps: HostTraps) -> bool:
    """Whether there is something to ask for."""
    return traps.round is not None or _choose(traps) is not None or any(each.leaving for each in traps.records.values())


def next_step(traps: HostTraps) -> Step:
    """Take the next step; the row has to be written again."""
    lines: list[str] = []
    leaving = next((each for each in traps.records.values() if each.leaving), None)
    go: list[URLMessage] = []
    if leaving is not None:
        go = _leave(traps, leaving)
    elif traps.round is None:
        _begin(traps)
    else:
        _go_on(traps, traps.records[traps.current], traps.round, lines)
    return Step(go, lines, over=not go and not undecided(traps))


def _begin(traps: HostTraps) -> None:
    key = _choose(traps)
    if key is not None:
        record = traps.records[key]
        traps.current, traps.round = key, Round(record.held, traps.read)
        _ask_for_part(traps, record, traps.round, free=True)


def _choose(traps: HostTraps) -> int | None:
    """The broadest of those that can be asked for now; None: there is none."""
    keys = [key for key, each in traps.records.items() if each.undecided and traps.read >= each.postponed]
    return max(keys, key=lambda key: (traps.records[key].breadth, key), default=None)


def _go_on(traps: HostTraps, record: PatternRecord, round_: Round, lines: list[str]) -> None:
    """What was asked for has been answered, and what it brought is judged."""
    if record.breadth == PARAMETER:
        _decide_parameter(traps, record, round_, lines)
        return
    if record.unindexed:
        _decide_unindexed(traps, record, round_, lines)
        return
    round_.total += round_.brought
    round_.news += round_.fresh
    round_.dull = 0 if round_.fresh else round_.dull + 1
    reproduces = round_.asked >= _GLANCE and round_.brought > _MANY * round_.asked
    worth = round_.fresh * (_NEW if reproduces else _HARDLY) >= round_.read > 0
    barren = reproduces and round_.fresh * _HARDLY < round_.read
    round_.reproduced = round_.reproduced + 1 if barren else 0
    if barren and _is_endless(traps, round_):
        _close(traps, record, lines, f"{round_.asked} of its pages led to {round_.brought} others, and so on")
    elif round_.left:
        barely = round_.brought * _HARDLY <= round_.asked
        ends = not traps.trapped and round_.brought <= round_.asked
        leaves = record.native >= min(round_.left, _PART) and (ends or round_.dull < _TIMES)
        leaves |= barely and round_.news > 0 and round_.dull < _DULL
        leaves |= traps.released and round_.brought <= round_.asked
        alone = record.breadth == SHAPE and round_.bred * 2 <= round_.asked and round_.brought <= round_.asked
        leaves |= "?" not in record.text and (alone if traps.trapped else barely)
        leaves |= not traps.trapped and _named(round_)
        free = worth or (not traps.trapped if reproduces else leaves)
        traps.rounds -= min(round_.asked, round_.fresh * (_NEW if reproduces else _HARDLY))
        _ask_for_part(traps, record, round_, free=free)
    else:
        _end_round(traps, record, round_, lines, worth=worth)


def _is_endless(traps: HostTraps, round_: Round) -> bool:
    """Whether its parts have brought as much for long enough."""
    rate = round_.brought / round_.asked
    if round_.reproduced == 1:
        round_.rate = rate
    traps.searched = traps.searched or round_.began
    if round_.reproduced < _TIMES or traps.read < max(
        _SURE_OF_NAMES if _named(round_) else _SURE, traps.searched + traps.searched // _GROWN
    ):
        return False
    if rate >= round_.rate * _DRY:
        return True
    traps.searched, round_.reproduced = traps.read, 0
    return False


def _named(round_: Round) -> bool:
    """Nearly all of its pages have a title of their own."""
    return round_.named * _MOST > round_.pages * (_MOST - 1)


def _decide_parameter(traps: HostTraps, record: PatternRecord, round_: Round, lines: list[str]) -> None:
    """Of what only says again what others say, hardly a page may say anything new."""
    _stop(traps)
    if round_.fresh * _HARDLY >= round_.read > 0:
        lines.append(f"open again: {record.text}: {round_.fresh} of {round_.read} pages said something new")
        traps.parameters.mean_something(record.text.removeprefix("*?").split("&"))
        record.open()
        record.leaving = record.held
    else:
        lines.append(f"left: {record.text}: {round_.read} pages said the same as without, {record.held} URLs wait")
        record.state = State.SAME


def _decide_unindexed(traps: HostTraps, record: PatternRecord, round_: Round, lines: list[str]) -> None:
    """Open a pattern again if one page of its part is of use, else leave the rest."""
    _stop(traps)
    if round_.useful:
        lines.append(f"open again: {record.text}: {round_.useful} of {round_.read} pages may be indexed, or led on")
        record.open()
        record.leaving = record.held
    else:
        lines.append(f"left: {record.text}: {round_.read} further pages are of no use, {record.held} URLs wait")
        record.state = State.SAME if record.copies else State.NOINDEX


def _ask_for_part(traps: HostTraps, record: PatternRecord, round_: Round, *, free: bool) -> None:
    """The next of all that it held back at first."""
    glance = not record.copies if record.unindexed else traps.trapped and not round_.asked
    part = min(round_.left, _GLANCE if glance else _PART)
    if not free and traps.rounds + part > _affordable(traps):
        _stop(traps)
        record.postponed = 2 * traps.read
        return
    traps.rounds += part
    round_.left -= part
    record.leaving = part
    round_.ask(part)


def _affordable(traps: HostTraps) -> int:
    """Addresses that rounds may cost: as many as all else that the host was asked for; half of them where it has a trap."""
    others = traps.read - traps.rounds
    return max(_DUE - others, others // 2 if traps.trapped else others)


def _end_round(traps: HostTraps, record: PatternRecord, round_: Round, lines: list[str], *, worth: bool) -> None:
    _stop(traps)
    if not record.held and round_.total * 2 <= round_.size:  # else others hold what it brought
        lines.append(f"open again: {record.text}: it has come to an end")
        record.open()
        return
    if round_.total * 2 <= round_.size or worth:
        record.failures = 0
        traps.failed = max(traps.failed - _NEW * round_.fresh, 0)  # of a chain, each page is a round
        return
    rate, record.rate = record.rate, round_.total / round_.size
    if record.rate < rate * _DRY:
        return
    record.failures += 1
    traps.failed += traps.read - round_.began
    due = _SURE_OF_NAMES if _named(round_) and record.held > round_.size else _DUE  # it is no chain
    late = traps.read >= due and traps.failed >= max(_CHAINS, traps.read // _CHAINS_SHARE)
    if late and record.failures >= _TIMES:
        _close(traps, record, lines, f"its last {round_.size} pages led to {round_.total} others, and so on")


def _close(traps: HostTraps, record: PatternRecord, lines: list[str], why: str) -> None:
    _stop(traps)
    record.state = State.TRAP
    record.leaving, record.sifting = record.held, True  # what has been proven meanwhile goes on
    lines.append(f"a trap: {record.text}: {why}; {record.held} URLs are left")


def _stop(traps: HostTraps) -> None:
    traps.current, traps.round = 0, None


def _leave(traps: HostTraps, record: PatternRecord) -> list[URLMessage]:
    """The next of those that may go. Of a trap only what it does not hold back any more."""
    sifting, go = record.sifting, []
    again = record.state is State.LIMIT and not record.forced  # by limits that are others now
    for message in record.take(BATCH):
        if message.url.fingerprint in traps.pulled:
            del traps.pulled[message.url.fingerprint]
        elif sifting and traps.holder(access := message.url.access) is not None:
            record.put(message)
            record.native += 1
        else:
            if sifting:
                traps.parameters.claim(access, parts_of(access))
            go.append(msgspec.structs.replace(message, released=not again, stale=False))
    if traps.round is not None and traps.trapped and record is traps.records[traps.current]:
        traps.round.bred += sum(_is_bred(traps, message.referrer) for message in go)
    return go


def _is_bred(traps: HostTraps, referrer: str) -> bool:
    """Found on a page like which others are held back."""
    found = traps.holder(referrer)
    return found is not None and found[1].breadth <= SHAPE and found[1].held > 0


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
            elif traps.rule != rule and not traps.is_of_session(record):
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
