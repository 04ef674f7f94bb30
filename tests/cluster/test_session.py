"""The session of an agent with etcd: each transition of the membership, the run, the quota and commands."""

from itertools import count

import msgspec
import pytest

from larm.cluster.applicant import Applicant, Mine, SavedSession
from larm.cluster.etcd import Get, NoEtcd, Put
from larm.cluster.keys import LAST, ClusterId, Command, Idle, Keys, View, unpack
from larm.cluster.session import GATHER, Session
from larm.cluster.view_state import Rules
from larm.errors import UsageError
from larm.ops.cluster_repair import ClusterRepair
from tests.support.etcd import RealEtcd, needs_etcd
from tests.support.fake_etcd import FakeEtcd
from tests.support.views import may_ask

KEYS = Keys("test")
RULES = Rules(lease=20.0, request=30.0)
ADOPTION = RULES.adoption
BACK = "etcd went back in time: run 'larm cluster found --again'"


NEW = SavedSession()


class Wire:
    """An agent's way to etcd. ``answers``: what becomes of its next transactions that write."""

    def __init__(self, etcd):
        self.etcd = etcd
        self.cut = False
        self.answers = []

    def txn(self, compares, then, otherwise=()):
        if self.cut:
            return NoEtcd("cut", known=True)
        fate = self.answers.pop(0) if self.answers and then and isinstance(then[0], Put) else "good"
        if fate == "late":
            self.late = lambda: self.etcd.txn(compares, then, otherwise)
        found = self.etcd.txn(compares, then, otherwise) if fate in ("good", "lost answer") else None
        return found if fate == "good" else NoEtcd("it is slow", known=False)

    def grant(self, seconds):
        return NoEtcd("cut", known=True) if self.cut else self.etcd.grant(seconds)

    def keep(self, lease):
        return NoEtcd("cut", known=True) if self.cut else self.etcd.keep(lease)


class Agent:
    """A session, and a crawl that has nothing to do."""

    numbers = count(1)

    def __init__(self, cluster, name, saved=NEW, **own):
        self.cluster, self.name = cluster, name
        self.wire = Wire(cluster.etcd)
        applicant = Applicant(name, boot=next(self.numbers), **own)
        self.session = Session(self.wire, KEYS, applicant, saved, rules=RULES, random=lambda: next(self.numbers))
        self.mine = Mine()
        self.fresh = not saved.epoch
        self.holds = False
        """Foreign hosts are left here."""

    @property
    def state(self):
        return self.session.state

    def round(self):
        self.session.unsaved = False
        self.fresh = self.fresh and not self.state.inside
        released = 0 if self.holds else LAST if self.fresh else self.state.view.epoch
        self.session.round(self.mine._replace(released=released), lambda: self.cluster.now)

    def may_ask(self, host):
        return may_ask(self.state, host, self.cluster.now)


class Cluster:
    def __init__(self):
        self.now = 1_000.0
        self.etcd = FakeEtcd(lambda: self.now)
        self.agents = {}

    def start(self, *names, seconds=6, **own):
        for name in names:
            self.agents[name] = Agent(self, name, **own)
            self.run(seconds)
        return [self.agents[name] for name in names]

    def run(self, seconds):
        for _ in range(round(seconds)):
            self.now += 1.0
            for agent in list(self.agents.values()):
                agent.round()

    def read(self, key, kind):
        pairs = self.etcd.txn((), (Get(key),)).pairs[0]
        return unpack(pairs[0].value, kind) if pairs else None

    @property
    def view(self):
        return self.read(KEYS.view, View)


@pytest.fixture
def cluster():
    return Cluster()


def host_of(agent, count=1_000):
    return next(host for host in (f"h{n}.example" for n in range(count)) if agent.state.owner(host) == agent.name)


def test_first_agent_founds_and_others_join(cluster):
    a, b, c = cluster.start("a", "b", "c")
    assert cluster.view.members.keys() == {"a", "b", "c"}
    assert all(agent.state.settled and agent.session.run.state == "running" for agent in (a, b, c))
    assert all(agent.may_ask(host_of(agent)) and not agent.session.trouble for agent in (a, b, c))


def test_two_agents_that_found_at_once_are_in_one_cluster(cluster):
    cluster.start("a", "b", seconds=0)
    cluster.run(4)
    assert cluster.view.members.keys() == {"a", "b"}


def test_unknown_outcome_of_founding_and_joining_is_read_again(cluster):
    a, b = cluster.start("a", "b", seconds=0)
    a.wire.answers, b.wire.answers = ["lost answer"], ["lost answer"]
    cluster.run(8)
    assert cluster.view.members.keys() == {"a", "b"}
    assert a.state.inside
    assert b.state.inside
    assert not a.session.trouble


def test_agent_writes_nothing_before_its_number_is_saved(cluster):
    agent = Agent(cluster, "a")
    agent.session.round(Mine(released=LAST), lambda: cluster.now)
    assert cluster.view is None


def test_lease_ends_after_last_confirmed_renewal(cluster):
    (a,) = cluster.start("a")
    cluster.run(6)
    a.wire.cut = True
    cluster.run(14)
    assert not a.state.fenced(cluster.now)
    assert "goes on" in a.session.trouble
    cluster.run(7)
    assert a.state.fenced(cluster.now)
    assert a.session.trouble == "etcd does not answer: crawling is stopped until it does (cut)"
    a.wire.cut = False
    cluster.run(2)
    assert not a.state.fenced(cluster.now)
    assert not a.session.trouble


def test_dead_agent_is_removed_after_a_lease_and_adopted_after_the_longest_request(cluster):
    a, b = cluster.start("a", "b")
    host = host_of(b)
    del cluster.agents["b"]
    cluster.run(RULES.lease - 5)
    assert cluster.view.members.keys() == {"a", "b"}
    cluster.run(6)
    assert cluster.view.members.keys() == {"a"}
    assert a.state.owner(host) == "a"
    assert not a.may_ask(host)
    cluster.run(ADOPTION - RULES.lease - 6)
    assert not a.may_ask(host)
    cluster.run(7)
    assert a.may_ask(host)
    assert a.state.settled
    assert not cluster.view.lost


def test_three_of_five_are_removed_in_one_step(cluster):
    agents = cluster.start("a", "b", "c", "d", "e", seconds=5)
    epoch = cluster.view.epoch
    for name in "bcd":
        del cluster.agents[name]
    cluster.run(RULES.lease + 2)
    assert cluster.view.members.keys() == {"a", "e"}
    assert cluster.view.epoch == epoch + 1
    assert agents[0].state.view.lost.keys() == {"b", "c", "d"}


def test_outage_of_etcd_removes_no_agent(cluster):
    a, b = cluster.start("a", "b")
    cluster.etcd.down = True
    cluster.run(100)
    cluster.etcd.down = False
    cluster.run(10)
    assert cluster.view.members.keys() == {"a", "b"}
    assert not a.state.fenced(cluster.now)
    assert not b.state.fenced(cluster.now)


def test_agent_whose_lease_was_revoked_early_goes_on(cluster):
    _a, b = cluster.start("a", "b")
    epoch = cluster.view.epoch
    cluster.etcd.expire(b.session._lease)
    cluster.run(30)
    assert cluster.view.epoch == epoch
    assert b.state.inside
    assert not b.state.fenced(cluster.now)
    assert not b.session.trouble


def test_lost_agent_joins_again_when_it_has_handed_over(cluster):
    a, b = cluster.start("a", "b")
    b.wire.cut = True
    cluster.run(30)
    b.wire.cut, b.holds = False, True
    nonce = b.session.saved.nonce
    cluster.run(5)
    assert cluster.view.members.keys() == {"a"}
    assert not b.state.inside
    b.holds = False
    cluster.run(4)
    assert cluster.view.members["b"].nonce == b.session.saved.nonce != nonce
    assert a.state.settled


def test_process_that_returns_within_a_lease_continues_its_session(cluster):
    _a, b = cluster.start("a", "b")
    epoch, saved = cluster.view.epoch, b.session.saved
    cluster.run(10)
    cluster.agents["b"] = b = Agent(cluster, "b", saved, continues=True)
    cluster.run(2)
    assert b.state.inside
    assert not b.state.fenced(cluster.now)
    assert cluster.view.epoch == epoch


def test_copied_directory_is_refused_while_the_other_process_lives(cluster):
    _a, b = cluster.start("a", "b")
    cluster.agents["copy"] = copy = Agent(cluster, "b", b.session.saved, continues=False)
    cluster.run(100)
    assert copy.state.fenced(cluster.now)
    assert copy.session.halted
    assert "copied from one in use" in copy.session.trouble
    assert not b.state.fenced(cluster.now)


def test_only_agent_that_returns_on_another_machine_waits_for_the_longest_request(cluster):
    (a,) = cluster.start("a")
    cluster.agents["a"] = a = Agent(cluster, "a", a.session.saved, continues=False)
    cluster.run(ADOPTION - 8)
    assert a.state.fenced(cluster.now)
    cluster.run(16)
    assert a.may_ask(host_of(a))


def test_agent_that_leaves_keeps_its_key_until_its_hosts_are_handed_over(cluster):
    a, b = cluster.start("a", "b")
    b.holds, b.mine = True, Mine(leaving=True)
    host = host_of(b)
    cluster.run(50)
    assert cluster.view.members.keys() == {"a"}
    assert not a.may_ask(host)
    assert not b.session.left
    b.holds = False
    cluster.run(3)
    assert a.may_ask(host)
    assert b.session.left
    assert a.state.agents.keys() == {"a"}


def test_agent_that_dies_while_it_leaves_is_lost(cluster):
    _, b = cluster.start("a", "b")
    b.holds, b.mine = True, Mine(leaving=True)
    cluster.run(4)
    del cluster.agents["b"]
    cluster.run(RULES.lease + 2)
    assert cluster.view.lost.keys() == {"b"}


def test_agent_that_should_not_leave_any_more_comes_back_though_no_other_is_there(cluster):
    _a, b = cluster.start("a", "b")
    b.holds, b.mine = True, Mine(leaving=True)
    cluster.run(4)
    assert cluster.view.members.keys() == {"a"}
    cluster.agents = {"b": Agent(cluster, "b", b.session.saved, continues=True)}
    cluster.run(ADOPTION + 4)
    assert cluster.view.members.keys() == {"b"}
    assert cluster.agents["b"].state.settled


def test_agent_that_leaves_removes_no_other_and_leaves_no_silent_one_alone(cluster):
    _a, b = cluster.start("a", "b")
    del cluster.agents["a"]
    cluster.run(11)
    b.mine = Mine(leaving=True)
    cluster.run(60)
    assert cluster.view.members.keys() == {"a", "b"}


def test_stop_in_good_order_needs_no_wait_for_the_longest_request(cluster):
    a, b = cluster.start("a", "b")
    host = host_of(b)
    assert b.session.stop(Mine(figures=b"last"), lambda: cluster.now)
    assert b.state.fenced(cluster.now)
    del cluster.agents["b"]
    cluster.run(RULES.lease + 3)
    assert a.may_ask(host)


# -- runs


def test_run_ends_when_all_are_idle_and_the_next_one_gathers(cluster):
    a, b = cluster.start("a", "b")
    a.mine = Mine(idle=True)
    cluster.run(5)
    assert a.session.run.state == "running"
    assert a.session.told_idle
    b.mine = Mine(idle=True)
    cluster.run(3)
    assert a.session.run.state == b.session.run.state == "over"
    saved = {}
    for agent in (a, b):
        agent.session.stop(Mine(), lambda: cluster.now)
        saved[agent.name] = agent.session.saved
    cluster.now += 1_000.0
    cluster.agents = {"a": Agent(cluster, "a", saved["a"], continues=True)}
    cluster.run(100)
    a = cluster.agents["a"]
    assert (a.session.run.number, a.session.run.state) == (2, "gathering")
    assert cluster.view.members.keys() == {"a", "b"}
    cluster.agents["b"] = Agent(cluster, "b", saved["b"], continues=True)
    cluster.run(3)
    assert (a.session.run.number, a.session.run.state) == (2, "running")
    cluster.run(30)
    assert a.session.run.state == "running"


def test_run_begins_without_members_that_do_not_come_back(cluster):
    a, _ = cluster.start("a", "b")
    saved = a.session.saved
    cluster.now += 1_000.0
    cluster.agents = {"a": Agent(cluster, "a", saved, continues=True)}
    cluster.run(GATHER - 10)
    assert cluster.agents["a"].session.run.state == "gathering"
    cluster.run(15)
    assert cluster.agents["a"].session.run.state == "running"
    cluster.run(RULES.lease)
    assert cluster.view.members.keys() == {"a"}


def test_agent_that_dies_before_the_first_run_holds_none_up(cluster):
    cluster.start("a", "b", agents=3)
    del cluster.agents["b"]
    cluster.run(2 * RULES.lease)
    cluster.start("c", "d", agents=3)
    assert cluster.view.members.keys() == {"a", "c", "d"}
    cluster.run(ADOPTION)
    assert cluster.agents["a"].session.run.state == "running"


def test_run_waits_for_as_many_agents_as_were_asked_for(cluster):
    (a,) = cluster.start("a", agents=2)
    cluster.run(2 * GATHER)
    assert a.session.run.state == "gathering"
    cluster.start("b", agents=2)
    assert a.session.run.state == "running"


def test_batch_is_refused_until_the_claim_to_be_idle_is_withdrawn(cluster):
    a, _b = cluster.start("a", "b")
    a.mine = Mine(idle=True)
    cluster.run(4)
    assert not a.session.busy()
    cluster.run(1)
    assert cluster.read(f"{KEYS.idles}a", Idle).epoch == 0
    assert a.session.busy()


def test_claim_made_before_a_batch_came_is_not_sent(cluster):
    a, _b = cluster.start("a", "b")
    a.mine = Mine(idle=True)
    cluster.run(1)
    assert a.session.busy()
    cluster.run(1)
    assert not cluster.read(f"{KEYS.idles}a", Idle)


def test_claim_of_unknown_outcome_keeps_batches_out_until_it_can_not_come_true(cluster):
    a, _b = cluster.start("a", "b")
    a.mine = Mine(idle=True)
    a.wire.answers = ["late"]
    while not hasattr(a.wire, "late"):
        cluster.run(1)
    assert not a.session.busy()
    a.mine = Mine()
    cluster.run(2)
    assert a.session.busy()
    assert not a.wire.late().ok


# -- operators


def test_etcd_of_an_older_backup_stops_agents(cluster):
    a, b = cluster.start("a", "b")
    backup = cluster.etcd.snapshot()
    cluster.run(10)
    cluster.etcd.restore(backup)
    cluster.run(2)
    for agent in (a, b):
        assert agent.session.trouble == BACK
        assert agent.session.halted
        assert agent.state.fenced(cluster.now)


def test_empty_etcd_stops_agents_of_the_cluster(cluster):
    a, _b = cluster.start("a", "b")
    cluster.etcd.restore((1, {}, {}))
    cluster.run(2)
    assert a.session.trouble == BACK
    assert a.state.fenced(cluster.now)


def test_cluster_is_founded_again_with_the_agents_that_stopped(cluster):
    a, b = cluster.start("a", "b")
    epoch, identity = cluster.view.epoch, a.session.saved.cluster
    cluster.etcd.restore((1, {}, {}))
    cluster.run(3)
    operator = ClusterRepair(Wire(cluster.etcd), KEYS, rules=RULES)
    operator.look(lambda: cluster.now)
    operator.found_again(a.session.saved)
    assert cluster.read(KEYS.id, ClusterId).generation == 2
    begun = cluster.now
    a.holds = b.holds = True
    cluster.run(10)
    assert cluster.view.members.keys() == {"a", "b"}
    assert cluster.view.epoch > epoch + 900
    assert a.session.saved.cluster == identity
    a.holds = b.holds = False
    cluster.run(ADOPTION - 14)
    assert not a.may_ask(host_of(a))
    cluster.run(8)
    assert a.may_ask(host_of(a))
    assert b.may_ask(host_of(b))
    assert cluster.now - begun < ADOPTION + 5


def test_cluster_that_runs_is_not_founded_again(cluster):
    a, _b = cluster.start("a", "b")
    operator = ClusterRepair(Wire(cluster.etcd), KEYS, rules=RULES)
    for _ in range(12):
        cluster.run(1)
        operator.look(lambda: cluster.now)
    with pytest.raises(UsageError, match="is running"):
        operator.found_again(a.session.saved)


def test_operator_removes_only_agents_that_do_not_run(cluster):
    _a, _b = cluster.start("a", "b")
    operator = ClusterRepair(Wire(cluster.etcd), KEYS, rules=RULES)
    operator.look(lambda: cluster.now)
    with pytest.raises(UsageError, match="x is not a member"):
        operator.remove("x")
    for _ in range(12):
        cluster.run(1)
        operator.look(lambda: cluster.now)
    with pytest.raises(UsageError, match="b is running"):
        operator.remove("b")
    del cluster.agents["b"]
    for _ in range(12):
        cluster.run(1)
        operator.look(lambda: cluster.now)
    operator.remove("b")
    assert cluster.view.members.keys() == {"a"}
    assert cluster.view.lost.keys() == {"b"}
    with pytest.raises(UsageError, match="a is running"):
        operator.remove("a")


def test_other_settings_are_named(cluster):
    cluster.start("a", settings={"x": "1", "y": "2"})
    (b,) = cluster.start("b", settings={"x": "1", "y": "3", "z": "4"})
    assert b.session.trouble.startswith("other agents have other settings: y, z;")
    assert b.session.halted
    assert not b.state.inside


def test_first_agent_of_a_run_may_bring_other_settings(cluster):
    (a,) = cluster.start("a", settings={"x": "1"})
    cluster.now += 1_000.0
    cluster.agents = {"a": Agent(cluster, "a", a.session.saved, continues=True, settings={"x": "2"})}
    cluster.run(5)
    assert cluster.agents["a"].session.run.state == "running"
    assert cluster.read(KEYS.id, ClusterId).settings == {"x": "2"}


def test_neighbouring_versions_speak_the_lower_one_until_all_are_new(cluster):
    a, b = cluster.start("a", "b", wire=(1, 1))
    (c,) = cluster.start("c", wire=(1, 2))
    assert c.state.inside
    assert cluster.read(KEYS.id, ClusterId).wire == 1
    for old in (a, b):
        cluster.agents[old.name] = Agent(cluster, old.name, old.session.saved, continues=True, wire=(1, 2))
    cluster.run(4)
    assert cluster.read(KEYS.id, ClusterId).wire == 2
    (d,) = cluster.start("d", wire=(1, 1))
    assert d.session.trouble.startswith("the agents speak version 2, and this larm speaks 1 to 1")


def test_fields_of_a_newer_version_are_read(cluster):
    class Newer(msgspec.Struct, array_like=True):
        epoch: int = 7
        members: dict = {}
        past: tuple = ()
        lost: dict = {}
        closed: bool = False
        more: str = "more"

    assert unpack(msgspec.msgpack.encode(Newer()), View) == View(7)


def test_command_reaches_all_agents_of_the_run(cluster):
    a, b = cluster.start("a", "b")
    a.session.order("stop", "why")
    cluster.run(2)
    command = b.session.command
    assert command == Command(1, "a", "stop", "why", command.number)
    assert a.session.command == b.session.command


def test_changed_settings_stay_until_the_next_run(cluster):
    a, b = cluster.start("a", "b")
    a.session.order("pause")
    a.session.order("set", changes={"x": "1"})
    b.session.order("set", changes={"y": "2"})
    cluster.run(3)
    command = a.session.command
    assert (command.what, command.changes) == ("pause", {"x": "1", "y": "2"})
    b.session.order("resume")
    cluster.run(2)
    assert a.session.command.changes == command.changes


def test_same_command_again_is_another_one(cluster):
    """An agent may have gone on by itself in between."""
    a, b = cluster.start("a", "b")
    seen = []
    for _ in range(2):
        a.session.order("pause")
        cluster.run(2)
        seen.append(b.session.command.number)
    assert seen[0] != seen[1]


def test_command_of_an_earlier_run_is_not_carried_out(cluster):
    a, _ = cluster.start("a", "b")
    a.session.order("stop")
    cluster.run(2)
    cluster.now += 1_000.0
    cluster.agents = {"a": Agent(cluster, "a", a.session.saved, continues=True)}
    cluster.run(3)
    assert cluster.agents["a"].session.command.number == 0


def test_pages_are_shared_and_never_more_than_the_limit(cluster):
    a, b = cluster.start("a", "b")
    a.mine = b.mine = Mine(limit=100, wants=True)
    cluster.run(1)
    assert (a.session.granted, b.session.granted) == (25, 18)
    cluster.run(60)
    assert a.session.granted + b.session.granted == 100
    assert a.session.short
    assert b.session.short
    a.mine = Mine(limit=100, keep=10)
    cluster.run(60)
    assert a.session.granted == 10
    assert b.session.granted == 90


def test_raised_limit_gives_more_pages(cluster):
    (a,) = cluster.start("a")
    a.mine = Mine(limit=100, wants=True)
    cluster.run(2)
    assert a.session.granted == 100
    a.mine = Mine(limit=150, wants=True)
    cluster.run(2)
    assert a.session.granted == 150


def test_figures_reach_all_and_the_last_ones_stay(cluster):
    a, b = cluster.start("a", "b")
    a.mine, b.mine = Mine(figures=b"a"), Mine(figures=b"b")
    cluster.run(24)
    assert a.session.figures == {"a": b"a", "b": b"b"}
    b.session.stop(Mine(figures=b"last"), lambda: cluster.now)
    del cluster.agents["b"]
    cluster.run(100)
    assert a.session.figures == {"a": b"a"}
    assert a.session.lasts == {"b": b"last"}


@needs_etcd
def test_session_founds_joins_loses_and_ends_with_a_real_etcd(tmp_path):
    with RealEtcd(tmp_path) as real:
        cluster = Cluster()
        cluster.etcd = real.client()
        a, b, _c = cluster.start("a", "b", "c")
        assert cluster.view.members.keys() == {"a", "b", "c"}
        assert a.state.settled
        del cluster.agents["c"]
        cluster.run(ADOPTION + 4)
        assert cluster.view.members.keys() == {"a", "b"}
        assert a.state.settled
        a.mine = b.mine = Mine(idle=True, limit=10, wants=True, figures=b"figures")
        cluster.run(4)
        assert a.session.run.state == "over"
        assert not a.session.trouble
        assert a.session.stop(Mine(figures=b"last"), lambda: cluster.now)
        cluster.etcd.close()
