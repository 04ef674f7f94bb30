"""Together: what agents do as one beside crawling. They pause and stop together, have one ``--max-pages``, and tell each other
how far they have got. All of it travels in cards, with each beat; the newest command wins, wherever it came from.

On ``larm-agents``, but for `order` and `ending`; `cards` and `totals` may be read by any thread.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from larm.cluster.agent import BEAT, Agent
from larm.cluster.beat import LAST, MOST
from larm.cluster.card import Card, Command, Figures, Rests, What
from larm.cluster.line import Line
from larm.cluster.page_sample import PageSample, overlap
from larm.cluster.quota import Quota
from larm.cluster.roster import Roster, place_of, read_roster, write_roster
from larm.cluster.terms import Doors, Rule
from larm.engine.allowance import PAGES_SPENT, PageBudget
from larm.engine.figures.snapshot import ClusterFigures
from larm.engine.orders import Pause, Resume
from larm.engine.parts import Frontier
from larm.errors import UsageError
from larm.frontier.host import LONGEST_WAIT

TIME_SPENT = "closespider_timeout"
_AHEAD = 3.0
"""An agent asks for more pages when it has as many left as it fetches in so many seconds: a grant takes two beats to come."""
_DONE = {"pause": "pauses", "resume": "goes on", "stop": "ends"}


class Together:
    """Of one crawl. ``folder``: of its queues."""

    def __init__(self, agent: Agent, rule: Rule, doors: Doors, line: Line, folder: Path) -> None:
        """Raises StorageError."""
        known = read_roster(folder)
        # constant after construction
        self._agent = agent
        self._doors = doors
        self._line = line
        self._folder = folder
        self._every = min(BEAT, agent.membership.rules.lease / 3)
        self._me = agent.membership.me
        self._blank = Roster(rule.cluster, self._me, rule.own.by, rule.own.placement)
        self._hang_after = rule.hang_after
        self._sample = PageSample(doors.stored)
        self._quota = Quota(self._me)
        self._rests = Rests(agent.membership.rules.adopt_after / 2)
        # replaced before any other thread runs
        self._frontier: Frontier | None = None
        self._budget: PageBudget | None = None
        self._wake: Callable[[], object] = lambda: None
        # guarded by agent.lock
        self._command = Command()
        # written by larm-agents
        self._stops = False
        """All are to end."""
        # written by larm-agents, by single operations on a dictionary
        card = Card(rule.address, rule.own.serve.rstrip("/"), str(doors.directory.absolute()))
        self.cards: dict[str, Card] = {**(known.cards if known is not None else {}), self._me: card}
        """The last one of each agent that was ever met."""
        # replaced as a whole by larm-agents
        self.totals: ClusterFigures | None = None
        """Of all, as far as is known here."""
        # only larm-agents
        self._spent = 0
        self._next = 0.0
        self._carried_out = 0
        self._moved: dict[str, float] = {}
        """When the pages of each have become more."""
        self._met: set[str] = set()
        """Those whose card has come since this process began."""
        self._saved: object = None
        members = agent.membership.view.members
        for name, other in self.cards.items():  # what was fetched by those that are gone counts as well
            if name not in members and name in other.pages:
                self._quota.learn({name: other.pages[name]})

    def take(self, frontier: Frontier, budget: PageBudget, wake: Callable[[], object]) -> None:
        """Before any other thread runs."""
        self._frontier, self._budget, self._wake = frontier, budget, wake
        budget.share()
        wall = self._doors.shared.clock.wall
        frontier.queues.on_back_off = lambda host, seconds: self._rests.note(host, seconds, wall())

    # -- any thread

    def order(self, what: What, why: str = "") -> str:
        """Have all agents do something; what is to be said of it."""
        now = self._doors.now()
        with self._agent.lock:
            number = max(min(self._command.number + 1, LAST), round(self._doors.shared.clock.wall() * 1000))
            self._command = Command(number, self._me, what, why)
            others = self._agent.membership.others()
            silent = [name for name in others if not self._agent.membership.contact.fresh(name, now)]
        self._line.put(self._carry_out)
        heard = f"this agent {_DONE[what]}, and so {'do' if len(others) > 1 else 'does'} {', '.join(sorted(others))}"
        later = f"; {', '.join(silent)} can't be heard now, and will hear of it later" if silent else ""
        return (heard if others else f"this agent {_DONE[what]}; it is the only one") + later

    def place(self, name: str) -> str:
        """Where an agent is, for a person."""
        return place_of(name, self.cards.get(name))

    def ending(self, reason: str) -> None:
        """This run ends: if its time is up, that of all is."""
        if reason == TIME_SPENT:
            self.order("stop", reason)

    def untold(self, now: float) -> bool:
        """Somebody who is there has not heard yet that all are to end."""
        if not self._stops:
            return False
        membership = self._agent.membership
        return any(
            membership.contact.fresh(name, now) and (name not in self.cards or self.cards[name].command < self._command)
            for name in membership.others()
        )

    # -- larm-agents

    def card(self) -> Card:
        """Ours, as it is now."""
        quota = self._quota
        return msgspec.structs.replace(self.cards[self._me], command=self._command, pages=dict(quota.known), short=quota.short)

    def hear(self, name: str, card: Card) -> None:
        """That of another agent. A stop on its first card is of the run before: it was told before this one began."""
        if name not in self.cards and len(self.cards) >= MOST:
            return
        if name not in self._met or card.figures.pages != self.cards[name].figures.pages:
            self._moved[name] = self._doors.now()
        self.cards[name] = card
        self._quota.learn(card.pages)
        with self._agent.lock:
            self._command = max(self._command, card.command)
        if name not in self._met and card.command.what == "stop" and self._command == card.command:
            self._carried_out = card.command.number
        self._met.add(name)
        self._carry_out()

    def step(self, now: float) -> None:
        """Some times a second."""
        if now < self._next or self._frontier is None:
            return
        self._next = now + self._every
        self._sample.read_on()
        figures, rests = self._figures(self._frontier), self._rests.told(self._doors.shared.clock.wall())
        self.cards[self._me] = msgspec.structs.replace(self.cards[self._me], figures=figures, rests=rests)
        self._share_pages()
        self._add_up(now)
        places = [(name, card.address, card.serve, card.directory) for name, card in self.cards.items()]
        if (state := (places, self._agent.membership.view)) != self._saved:
            self._saved = state
            self.save()

    def leave_alone(self, name: str, owner: Callable[[str], str]) -> None:
        """Hosts that have asked that agent, which is not a member any more, for a rest, as far as they are ours now."""
        card, frontier = self.cards.get(name), self._frontier
        if card is None or frontier is None:
            return
        now = self._doors.shared.clock.wall()
        for host, until in card.rests.items():
            if until > now and owner(host) == self._me:
                frontier.changes.back_off(host, min(until - now, LONGEST_WAIT))

    def save(self) -> None:
        """Whoever looks into the directory shall know who there is. Raises StorageError."""
        members = dict(self._agent.membership.view.members)
        write_roster(self._folder, msgspec.structs.replace(self._blank, members=members, cards=self.cards))

    def _carry_out(self) -> None:
        command, steering = self._command, self._doors.steering
        if command.number <= self._carried_out:
            return
        self._carried_out = command.number
        if command.what == "stop":
            self._stops = True
            self._doors.shared.bell.ring(command.why or "shutdown")
            return
        with suppress(UsageError):  # it ends
            steering.order(Pause() if command.what == "pause" else Resume())
            steering.carry_out()

    def _figures(self, frontier: Frontier) -> Figures:
        counters, tally = self._doors.shared.counters.snapshot(), self._doors.shared.tally.value
        free, fetched = 0, 0
        if self._budget is not None:
            free, fetched = self._quota.most - self._budget.spent, self._budget.spent - self._spent
            self._spent = self._budget.spent
        return Figures(
            pages=counters.get("item_scraped_count", 0),
            known=len(frontier.seen),
            waiting=max(0, tally) + frontier.turns.figures().uncounted,
            sent=counters.get("agents/urls_out", 0),
            sample=self._sample.smallest,
            paused=self._doors.steering.paused,
            recovered=counters.get("agents/recovered", 0),
            hungry=tally > 0 and free <= _AHEAD * fetched / self._every,
        )

    def _share_pages(self) -> None:
        limit, budget, quota = self._doors.steering.limits.now.crawl.max_pages, self._budget, self._quota
        if limit is None or budget is None:
            return
        quota.spend(budget.spent)
        members = sorted(self._agent.membership.view.members)
        if self._hands_out(members):
            hungry = [name for name in members if self.cards[name].figures.hungry]
            quota.hand_out(limit, hungry, alone=len(members) == 1)
        if not self._doors.shared.tally.value:
            quota.give_back(budget.give_up(1.0))
        elif any(card.short for name, card in self.cards.items() if name != self._me):
            quota.give_back(budget.give_up(0.5))
        if budget.change(quota.most):
            self._wake()
        if quota.spent >= limit and not self._stops:
            self.order("stop", PAGES_SPENT)

    def _hands_out(self, members: list[str]) -> bool:
        """We are the first, and know what all others know."""
        if not members or members[0] != self._me:
            self._quota.short = False
            return False
        beats, epoch = self._agent.membership.contact.beats, self._agent.membership.view.epoch
        return all(name in beats and beats[name].epoch == epoch and name in self.cards for name in members[1:])

    def _add_up(self, now: float) -> None:
        membership = self._agent.membership
        members = membership.view.members
        inside = [card.figures for name, card in self.cards.items() if name in members]
        everybody = [card.figures for card in self.cards.values()]
        pages, known = sum(each.pages for each in everybody), sum(each.known for each in inside)
        self.totals = ClusterFigures(
            agents=len(members),
            working=sum(name == self._me or membership.contact.fresh(name, now) for name in members),
            paused=sum(each.paused for each in inside),
            pages=pages,
            waiting=sum(each.waiting for each in inside),
            coverage=round(max(0.0, 1 - sum(each.waiting for each in inside) / known), 4) if known else 0.0,
            overlap=round(overlap(each.sample for each in everybody), 4),
            sent_per_page=round(sum(each.sent for each in everybody) / pages, 4) if pages else 0.0,
            recovered=sum(each.recovered for each in everybody),
            holds=self._holds(now),
        )

    def _holds(self, now: float) -> str:
        membership = self._agent.membership
        there, wanted = len(membership.view.members), membership.rules.agents
        if not membership.begun:
            return f"the crawl begins when {wanted} are there, of which there {'is' if there == 1 else 'are'} {there}"
        if membership.leaving:
            return "it leaves, and hands its hosts over to the others"
        if membership.fenced(now):
            return "more than half of all can't be heard, and this one waits for them"
        with self._agent.lock:
            stuck = self._agent.courier.stuck(now, membership.rules.adopt_after)
            done = self._agent.quiet("").idle
        if stuck:
            return f"URLs wait for {', '.join(stuck)}: heard, but nothing was taken there for long; end that agent"
        beats, oldest = membership.contact.beats, now - self._hang_after
        busy = [name for name in membership.others() if name in beats and not beats[name].quiet.idle]
        if done and busy and all(self._moved.get(name, now) < oldest for name in busy):
            names = ", ".join(busy)
            return f"all but {names} are done, where nothing was fetched for long: ask there why, or end it and others go on"
        return ""
