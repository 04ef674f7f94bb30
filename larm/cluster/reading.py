"""Reading: the keys of a cluster at one revision of etcd. Pure; used on any thread.

Agents and commands read a cluster in this one way. A missing key has the default of its field.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import msgspec

from larm.cluster.etcd import Found, Get, Pair, Same
from larm.cluster.keys import AgentState, ClusterId, Command, Grant, Idle, Keys, Quota, Run, SeenAgent, View, unpack

_Value = TypeVar("_Value", bound=msgspec.Struct)
_Default = TypeVar("_Default")


class Reading(NamedTuple):
    """The values of the keys."""

    revision: int = 0
    id: ClusterId | None = None
    view: View = View()
    run: Run = Run()
    command: Command = Command(0)
    """The newest command of this run; of number 0: there is none."""
    quota: Quota = Quota(0, 0)
    grant: Grant = Grant()
    """That of the agent that reads."""
    agents: Mapping[str, SeenAgent] = MappingProxyType({})
    idles: Mapping[str, Idle] = MappingProxyType({})
    figures: Mapping[str, bytes] = MappingProxyType({})
    """The cards of agents that run."""
    lasts: Mapping[str, bytes] = MappingProxyType({})
    """The cards at the end of each agent's last run."""
    modified: Mapping[str, int] = MappingProxyType({})
    """Revisions of the keys."""

    def same(self, *keys: str) -> list[Same]:
        """Return compares that hold if these keys are unchanged since."""
        return [Same(key, self.modified.get(key, 0)) for key in keys]


def gets(keys: Keys, me: str = "", *, figures: bool = False) -> tuple[Get, ...]:
    """Return what is to be read for `reading_of`. ``me``: the agent that reads, if it is one."""
    single = (keys.id, keys.view, keys.run, keys.command, keys.quota, *([f"{keys.grants}{me}"] if me else []))
    tops = (keys.agents, keys.idles, *((keys.figures, keys.lasts) if figures else ()))
    return (*(Get(key) for key in single), *(Get(top, prefix=True) for top in tops))


def reading_of(found: Found, keys: Keys, me: str = "") -> Reading:
    """Return the values that etcd gave for `gets`. Raises msgspec.DecodeError."""
    pairs = {pair.key: pair for some in found.pairs for pair in some}

    def one(key: str, kind: type[_Value], default: _Default) -> _Value | _Default:
        return unpack(pairs[key].value, kind) if key in pairs else default

    def below(top: str) -> dict[str, Pair]:
        return {key[len(top) :]: pair for key, pair in pairs.items() if key.startswith(top)}

    run = one(keys.run, Run, Run())
    command = one(keys.command, Command, Command(run.number))
    return Reading(
        revision=found.revision,
        id=one(keys.id, ClusterId, None),
        view=one(keys.view, View, View()),
        run=run,
        command=command if command.run == run.number else Command(run.number),
        quota=one(keys.quota, Quota, Quota(0, 0)),
        grant=one(f"{keys.grants}{me}", Grant, Grant()),
        agents={name: SeenAgent(unpack(pair.value, AgentState), pair.modified) for name, pair in below(keys.agents).items()},
        idles={name: unpack(pair.value, Idle) for name, pair in below(keys.idles).items()},
        figures={name: pair.value for name, pair in below(keys.figures).items()},
        lasts={name: pair.value for name, pair in below(keys.lasts).items()},
        modified={key: pair.modified for key, pair in pairs.items()},
    )
