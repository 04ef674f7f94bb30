"""Faults of agents and of etcd, on machines of their own (`tests.cluster.beds`), as the servers of the web saw them.

In each case no page is lost, no host is asked by two agents or sooner than its delay, and all agents end by themselves.
``LARM_BEDS=full`` gives the web and the times of docs/measurements.rst.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from larm.testing.replies import Reply
from tests.cluster.beds import FULL, PORT, SMALL, Bed, bed, check
from tests.cluster.namespaces import possible
from tests.support.etcd import needs_etcd

SIZE = FULL if os.environ.get("LARM_BEDS") == "full" else SMALL
ALL = range(4)
SEED = int(os.environ.get("LARM_SEED", "1"))
pytestmark = [
    needs_etcd,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not possible(), reason="network namespaces need root"),
]


def test_no_fault_fetches_each_page_once(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        check(it.end())


def test_agent_killed_and_back_within_lease_repeats_only_unsaved_pages(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        before = it.view()
        it.kill(1)
        unsaved = it.fetched_by(1, since=it.now() - 8)
        it.start(1)
        it.until_share(0.6)
        assert it.view() == before
        check(it.end(), unsaved)


def test_agent_killed_for_good_with_its_disk_is_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.kill(1, disk=True)
        gone = it.fetched_by(1)
        it.until_members(0, 2, 3)
        check(it.end(300), gone)


def test_lost_agent_with_its_disk_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.kill(1)
        gone = it.fetched_by(1)
        it.until_members(0, 2, 3)
        it.wait(SIZE.adoption)
        it.start(1)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_three_of_five_agents_gone_at_once_are_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE, agents=5) as it:
        it.start_all()
        it.until_share(0.3)
        for number in (0, 2, 4):
            it.kill(number, disk=True)
        gone = it.fetched_by(0, 2, 4)
        it.until_members(1, 3)
        check(it.end(400), gone)


def test_agent_that_hangs_for_less_than_the_lease_loses_nothing(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        before = it.view()
        it.hang(2)
        it.wait(SIZE.lease / 2)
        it.wake(2)
        it.until_share(0.6)
        assert it.view() == before
        check(it.end())


def test_agent_that_hangs_for_longer_is_replaced_and_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.hang(2)
        gone = it.fetched_by(2)
        it.until_members(0, 1, 3)
        it.wait(SIZE.adoption)
        it.wake(2)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_agents_cut_from_each_other_stay_members(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        before = it.view()
        it.net.part(0, 2)
        it.wait(2 * SIZE.adoption)
        assert it.view() == before
        it.net.join(0, 2)
        check(it.end(300))


def test_agent_cut_from_etcd_is_replaced_and_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.cut_from_etcd(1)
        it.until_members(0, 2, 3)
        gone = it.fetched_by(1)
        it.wait(SIZE.adoption)
        it.heal_etcd(1)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_machine_cut_from_all_others_is_replaced_and_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.net.pull(1)
        it.until_members(0, 2, 3)
        gone = it.fetched_by(1)
        it.wait(SIZE.adoption)
        it.net.plug(1)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_killed_leader_of_etcd_stops_no_agent(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.2)
        before = it.view()
        it.leader().kill()
        it.until_share(0.6)
        assert it.view() == before
        check(it.end())


def test_agents_wait_while_etcd_is_down_and_go_on(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        before = it.view()
        for member in it.etcds:
            member.kill()
        it.wait(3 * SIZE.lease)
        requests = len(it.web.log)
        it.wait(SIZE.lease)
        assert len(it.web.log) == requests
        for member in it.etcds:
            member.start()
        it.until_share(0.6)
        assert it.view() == before
        check(it.end())


def test_agent_that_joins_takes_hosts_over(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        for number in (0, 1, 2):
            it.start(number, agents=3)
        it.until_share(0.3)
        it.start(3, agents=3)
        it.until_members(*ALL)
        found = it.end()
        check(found)
        assert it.fetched_by(3)


def test_agent_that_leaves_hands_its_hosts_over(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.leave(3)
        it.until_members(0, 1, 2)
        it.until(lambda: it.processes[3].poll() is not None)
        check(it.end())


def test_agent_whose_disk_is_full_ends_and_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it, it.small_disk(2, 48 << 20) as fill:
        it.settings.append("limits.disk=0")
        it.start_all()
        it.until_share(0.3)
        fill()
        it.until(lambda: it.processes[2].poll() is not None)
        assert it.processes.pop(2).returncode not in (0, None)
        (it.directory(2) / "filler").unlink()
        gone = it.fetched_by(2)
        it.until_members(0, 1, 3)
        it.start(2)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_slow_answer_during_a_cut_ends_before_the_next_owner_asks(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        slow = Reply(200, {"Content-Type": "text/html"}, b"late", delay=SIZE.timeout * 1.5)
        for host in it.hosts:
            it.web.host(host).first("/p20", slow)
        it.start_all()
        it.until(lambda: any(it.busy(1, "/p20")), 200)
        it.cut_from_etcd(1)
        it.until_members(0, 2, 3)
        gone = it.fetched_by(1)
        it.wait(SIZE.adoption)
        it.heal_etcd(1)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_first_machine_back_with_an_empty_disk_joins_as_a_new_agent(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        old = it.name(0)
        it.kill(0, disk=True)
        gone = it.fetched_by(0)
        it.start(0)
        it.until_members(*ALL)
        assert it.name(0) != old
        check(it.end(300), gone)


def test_killed_right_after_each_change_of_state(tmp_path: Path) -> None:
    size = SIZE._replace(delay=4 * SIZE.delay)
    chance = random.Random(SEED)
    with bed(tmp_path, size) as it:
        it.start_all()
        for _ in range(20):
            changed = it.change(20)
            number = chance.choice([number for number in ALL if it.name(number) in changed] or list(ALL))
            it.kill(number)
            it.wait(chance.choice([0, 0, size.lease / 4, size.lease, size.adoption]))
            it.start(number)
        check(it.end(600), None)


def test_agent_and_leader_of_etcd_gone_at_once_are_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.kill(1, disk=True)
        it.leader().kill()
        gone = it.fetched_by(1)
        it.until_members(0, 2, 3)
        check(it.end(300), gone)


def test_agent_gone_while_two_others_are_cut_from_each_other_is_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.2)
        it.net.part(0, 2)
        it.kill(1, disk=True)
        gone = it.fetched_by(1)
        it.until_members(0, 2, 3)
        it.wait(2 * SIZE.adoption)
        it.net.join(0, 2)
        check(it.end(300), gone)


def test_agent_that_hangs_while_etcd_restarts_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.hang(2)
        gone = it.fetched_by(2)
        for member in it.etcds:
            member.kill()
        it.wait(2 * SIZE.lease)
        for member in it.etcds:
            member.start()
        it.until_members(0, 1, 3)
        it.wake(2)
        it.until_members(*ALL)
        check(it.end(300), gone)


def test_leader_of_etcd_that_hangs_revokes_no_agent(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.2)
        members = set(it.view().members)
        leader = it.leader()
        for _ in range(3):
            leader.stop()
            it.wait(2 * SIZE.lease)
            leader.go_on()
            it.wait(1)
        assert set(it.view().members) == members
        check(it.end(300))


def test_agent_cut_from_two_members_of_etcd_goes_on(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.2)
        before = it.view()
        it.net.part(1, 5)
        it.net.part(1, 6)
        it.wait(3 * SIZE.lease)
        assert it.view() == before
        check(it.end(300))


def test_etcd_of_one_member_killed_and_back_loses_nothing(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE, agents=2, etcds=1) as it:
        it.start_all()
        it.until_share(0.3)
        before = it.view()
        it.etcds[0].kill()
        it.wait(SIZE.lease / 2)
        it.etcds[0].start()
        it.until_share(0.6)
        assert it.view() == before
        check(it.end(300))


def test_all_machines_without_power_go_on(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.4)
        for number in ALL:
            it.kill(number)
        for member in it.etcds:
            member.kill()
        unsaved = it.fetched_by(*ALL, since=it.now() - 8)
        for member in it.etcds:
            member.start()
        it.start_all()
        check(it.end(300), unsaved)


def test_agents_killed_at_the_end_of_the_crawl_end_it(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    with bed(tmp_path, SIZE._replace(pages=8)) as it:
        it.start_all()
        it.until_requests(SIZE.hosts * 8)
        for _ in range(6):
            it.change(20, "idle/")
            number = chance.choice(ALL)
            if it.processes[number].poll() is not None:
                break
            it.kill(number)
            it.start(number)
        check(it.end(300), None)


def test_agent_joins_while_another_is_lost(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        for number in (0, 1, 2):
            it.start(number, agents=3)
        it.until_share(0.2)
        it.kill(1, disk=True)
        gone = it.fetched_by(1)
        it.start(3, agents=3)
        it.until_members(0, 2, 3)
        check(it.end(300), gone)


def test_hosts_that_move_keep_a_long_delay(tmp_path: Path) -> None:
    size = SIZE._replace(pages=10, delay=6.0)
    with bed(tmp_path, size) as it:
        for number in (0, 1, 2):
            it.start(number, agents=3)
        it.until_share(0.3)
        it.start(3, agents=3)
        it.until_members(*ALL)
        it.kill(0)
        unsaved = it.fetched_by(0, since=it.now() - 8)
        it.start(0, agents=3)
        it.until_share(0.6)
        it.leave(3)
        it.until_members(0, 1, 2)
        check(it.end(300), unsaved)


def test_machine_with_its_member_of_etcd_gone_is_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE, agents=3, etcds=0) as it:
        run_etcd_beside(it)
        it.until_share(0.3)
        it.lose(1)
        gone = it.fetched_by(1)
        it.until_members(0, 2)
        check(it.end(300), gone)


def test_first_machine_back_empty_with_its_member_of_etcd_joins(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE, agents=3, etcds=0) as it:
        run_etcd_beside(it)
        it.until_share(0.3)
        it.lose(0)
        gone = it.fetched_by(0)
        it.start(0, etcd=["run"])
        it.until_members(0, 1, 2)
        check(it.end(300), gone)


def run_etcd_beside(it: Bed) -> None:
    """Start agents that each run a member of etcd, and wait until all are full members."""
    it.start(0, etcd=["run"])
    for number in range(1, it.agents):
        it.start(number, etcd=["run", f"http://{it.net.address(0)}:{PORT + 1}"])
    it.endpoints = [f"http://{it.net.address(number)}:{PORT + 1}" for number in range(it.agents)]
    it.until(it.all_vote)


def test_two_agents_that_leave_at_once_hand_their_hosts_over(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.leave(2)
        it.leave(3)
        it.until_members(0, 1)
        check(it.end(300))


def test_agent_killed_while_it_leaves_is_replaced(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.leave(3)
        it.until_members(0, 1, 2)
        it.kill(3, disk=True)
        gone = it.fetched_by(3)
        check(it.end(300), gone)


def test_agent_stopped_in_good_order_and_back_within_lease_repeats_nothing(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.processes[2].send_signal(signal.SIGINT)
        it.until(lambda: it.processes[2].poll() is not None)
        it.start(2)
        check(it.end(300))


def test_agent_stopped_in_good_order_for_longer_is_replaced_and_returns(tmp_path: Path) -> None:
    with bed(tmp_path, SIZE) as it:
        it.start_all()
        it.until_share(0.3)
        it.processes[2].send_signal(signal.SIGINT)
        it.until(lambda: it.processes[2].poll() is not None)
        gone = it.fetched_by(2)
        it.until_members(0, 1, 3)
        it.start(2)
        it.until_members(*ALL)
        check(it.end(300), gone)
