"""What limits the crawl now: the question that every user of a crawler asks (why is it slow?), answered from figures.

Pure. Called by the display about once a second and by the reporter once a tick. The order of the rows in `limiting_factor` is
the order of the river, backwards: whoever stands at the end and is full holds up all the others.
"""

from collections.abc import Sequence

from larm.engine.figures.rates import duration
from larm.engine.figures.snapshot import Snapshot

_FULL = 0.9
"""A queue or a pool counts as full from here: it is never quite full at the moment of a sample."""


def limiting_factor(before: Snapshot, now: Snapshot, cpu_seconds: float, machine: float = 0.0) -> str:
    """One short phrase. ``cpu_seconds`` is the processor time of the process between the two snapshots.

    ``machine``: the share of the time of all cores in which they were busy, with whatever process; 0: nobody knows. Where there
    are no cores left, requests stay in the air as nobody takes their answers, and the network is not to blame.

    Politeness is judged by both of them, as a host that is waiting at one moment has its request in the air at another.
    """
    seconds = now.elapsed - before.elapsed
    cpu = cpu_seconds / seconds if seconds > 0 else 0.0
    full = [storage.name for storage in now.storages if storage.limit and storage.queued >= _FULL * storage.limit]
    waiting = max(before.hosts_waiting, now.hosts_waiting)
    starved = now.hosts_ready == 0
    flying = max(0, now.in_flight - now.look_ups - now.look_ups_waiting)
    in_air = bool(now.transfers) and flying >= _FULL * now.transfers
    air = f"{flying:,} of {now.transfers:,} transfers"
    cluster = now.cluster
    rows = (
        (now.paused, f"a pause: 'larm {'cluster' if cluster and cluster.paused > 1 else 'ctl'} resume' goes on"),
        (cluster and cluster.holds, f"the other agents: {cluster.holds if cluster else ''}"),
        (now.stalled, f"a thread that makes no progress: {', '.join(f'{each.thread} ({each.doing})' for each in now.stalled)}"),
        (not (now.in_flight or now.queued or now.handler_busy), "nothing: there is nothing left to fetch"),
        (now.idle, "nothing: what is left waits at hosts that were given up or are blocked"),
        (full, f"the storage {', '.join(full)}: it can't write as fast as pages come"),
        (now.look_ups_waiting, f"DNS: {_names(now.look_ups)} looked up, {now.look_ups_waiting:,} more wait for that"),
        (cpu >= _FULL, f"the CPU ({cpu:.0%} of a core)"),  # Python runs on one core at a time, whatever the number of threads
        (machine >= _FULL and (in_air or not starved), f"the CPU (all cores are busy, {cpu:.0%} of one in this process)"),
        (now.held_up, _handler(now)),
        (in_air, f"the network or the servers ({air} are in the air)"),
        (starved and waiting, f"politeness: {_hosts(waiting)} waiting for a delay to pass{_further(now)}"),
        (starved and flying, f"the servers: {_requests(flying)} in the air, no other host is ready"),
        (starved and now.look_ups, f"DNS: {_names(now.look_ups)} looked up, no other host is ready"),
        (starved and (now.handler_busy or now.incoming), _handler(now)),
        (starved and now.hosts_blocked, f"back-off: {_hosts(now.hosts_blocked)} left alone for a while{_asked_again(now)}"),
        (starved and now.hosts_given_up, "hosts that do not answer"),
        (starved, "reading: what was fetched is being read, and no host is ready"),
    )
    busy = f"the fetcher threads ({_hosts(now.hosts_ready)} ready, {air} are in the air)"
    return next((phrase for holds, phrase in rows if holds), busy)


_ADVICE = {
    "a pause": "resume it",
    "the other agents": "start them, or mend the network between them; 'larm cluster status' says who is heard",
    "a thread": "logs/stalled.log says where it is; if it is a disk or a part of yours, mend that; the same command continues",
    "the storage": "a faster disk, or --no-index for now and 'larm reindex' later",
    "DNS": "a resolver that answers; names of which it says nothing are given up after 20 s",
    "the CPU": "a faster machine; processing.processes reads pages on further cores",
    "the network": "more transfers at a time (fetch.transfers), if network and hosts bear it",
    "politeness": "more hosts at a time; or, for hosts of yours, a shorter frontier.delay or a larger frontier.per_host",
    "the servers": "more hosts at a time; or, for hosts of yours, a larger frontier.per_host",
    "the handler": "patience: links are looked at, and fetching goes on as soon as some of them are new",
    "back-off": "wait, or stop it: a later run goes on; a longer frontier.delay asks these hosts less often",
    "reading": "a faster machine; processing.processes reads pages on further cores",
    "hosts that": "look at what went wrong lately; they are asked again later",
    "the fetcher": "more threads or transfers (fetch.threads, fetch.transfers)",
}


def advice(phrase: str) -> str:
    """What helps against what `limiting_factor` has named; empty where there is nothing to do."""
    return next((said for beginning, said in _ADVICE.items() if phrase.startswith(beginning)), "")


def ending(waits: Sequence[str]) -> str:
    """The same of a crawl that ends and waits for these; empty where there are none."""
    return f"the end of the crawl: {'; '.join(waits)}" if waits else ""


def _asked_again(now: Snapshot) -> str:
    then = f"; it goes on in {duration(now.next_in)}, and so does a later run" if now.next_in else ""
    return f" (failed, 429 or 503){then}; 'larm ctl hosts' names them"


def _handler(now: Snapshot) -> str:
    return f"the handler ({now.incoming:,} messages wait for the filters)"


def _hosts(count: int) -> str:
    return "1 host is" if count == 1 else f"{count:,} hosts are"


def _names(count: int) -> str:
    return "1 name is" if count == 1 else f"{count:,} names are"


def _requests(count: int) -> str:
    return "1 request is" if count == 1 else f"{count:,} requests are"


def _further(now: Snapshot) -> str:
    in_line = f", {now.hosts_in_line:,} of them in line for others at the same IP address" if now.hosts_in_line else ""
    return in_line + (f", {now.hosts_blocked:,} left alone for a while" if now.hosts_blocked else "")
