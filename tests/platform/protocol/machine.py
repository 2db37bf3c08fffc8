"""The rules of the state machine: each is something that somebody does, or that happens."""

import datetime as dt
import os
import random
import shutil
from contextlib import ExitStack
from unittest.mock import patch

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from accounts.refusals import Refused
from competitions.actions import join
from competitions.actions.dates import ExtendDeadline, GiveExtraTime
from competitions.actions.queue import PauseQueue, ResumeQueue
from competitions.actions.release import Release, Reveal, SetBoard
from competitions.models import Entrant
from submissions import curves, doorbell, handover
from submissions.actions import DropsCode, cancel, submit
from submissions.changes import ChangeBudget, Rescore
from submissions.models import Attempt, Run
from submissions.moderation import Disqualify, Requalify, Rerun, Withdraw, choose
from submissions.reconciler import reconcile
from submissions.scoring import score_run
from tests.platform.clock import moved_clock
from tests.platform.protocol import invariants, leaks
from tests.platform.protocol.world import PEOPLE, START, Rules, World, archive, build, now

NUMBERS = st.integers(0, 10**6)
SECOND, MINUTE, HOUR = dt.timedelta(seconds=1), dt.timedelta(minutes=1), dt.timedelta(hours=1)
RULES = st.builds(
    Rules,
    counts=st.sampled_from(["latest", "latest", "best", "chosen"]),
    daily_quota=st.integers(1, 3),
    total_quota=st.sampled_from([None, 2, 4]),
    tie_rule=st.sampled_from(["earlier", "shared"]),
    repeats=st.sampled_from([1, 1, 2]),
    release=st.sampled_from(["at_close", "by_hand"]),
    reveal=st.sampled_from(["at_close", "at_close", "by_hand"]),
)
ENDS = ["ok", "ok", "ok", "crashed", "timed_out", "infrastructure", "released"]
PAGES_A_STEP = 3
THOROUGH = "PODIUM_PROTOCOL_EXAMPLES" in os.environ
PAGES_IN_THE_END = 1000 if THOROUGH else 12  # for each viewer


def pick(items, number):
    """One of the items; None where there are none."""
    return items[number % len(items)] if items else None


def empty_database():
    """Remove every row that an example made."""
    kept = {"django_content_type", "django_migrations", "auth_permission"}
    tables = [model._meta.db_table for model in apps.get_models(include_auto_created=True)]
    statements = connection.ops.sql_flush(no_style(), [table for table in tables if table not in kept])
    connection.ops.execute_sql_flush(statements)
    ContentType.objects.clear_cache()


class Protocol(RuleBasedStateMachine):
    """Everything that changes a competition, through the platform's own actions and its workers' protocol."""

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.clock = self.stack.enter_context(moved_clock(START + MINUTE))
        for bell in ("ring_worker", "ring_scorer", "ring_dispatcher"):
            self.stack.enter_context(patch.object(doorbell, bell, lambda *args, **kwargs: None))
        self.world: World | None = None
        self.ledger = invariants.Ledger()
        self.chance = random.Random(0)
        self.cancelled, self.was_untouched = None, False
        self.beat_is_fresh = False

    @initialize(rules=RULES, seed=NUMBERS)
    def begin(self, rules, seed):
        self.world = build(rules)
        self.chance = random.Random(seed)
        for name in PEOPLE[:2]:
            join(self.world.series.contest, self.world.people[name])

    def teardown(self):
        try:
            if self.world is not None:
                self.everything_ends()
        finally:
            if self.world is not None:
                shutil.rmtree(self.world.folder, ignore_errors=True)
            self.stack.close()
            empty_database()

    # What people do.

    @rule(number=NUMBERS)
    def somebody_joins(self, number):
        join(self.world.series.contest, self.world.people[pick(PEOPLE, number)])

    @rule(number=NUMBERS, kind=st.sampled_from(["code", "code", "results", "both", "broken"]), sure=st.booleans())
    def somebody_submits(self, number, kind, sure):
        person = pick(PEOPLE, number)
        open_ones = [phase for phase in self.world.phases() if phase.takes_submissions and phase.has_begun(now())]
        phase = pick(open_ones, number // 3)
        path = archive(self.world, phase, kind, number)
        tag = f"{person}q{number}q"
        try:
            made = submit(
                user=self.world.people[person],
                phase=phase,
                archive=path,
                filename=f"fileq{tag}.zip",
                comment=f"commentq{tag}",
                drops_code=sure,
            )
        except DropsCode:
            assert not sure and kind == "results"
        except Refused as refused:
            entrant = Entrant.objects.filter(user__username=person).first()
            may_take_part = self.world.series.contest.participants.filter(
                user__username=person, state="approved"
            ).exists()
            usable = phase.is_open_for(entrant, now()) and not invariants.has_secret(phase) and may_take_part
            assert kind == "broken" or not usable or refused.status == 429, str(refused)
        else:
            assert kind != "broken"
            assert made.kind == kind and made.phase_id == phase.pk

    @rule(number=NUMBERS, by_organizer=st.booleans())
    def somebody_cancels(self, number, by_organizer):
        submission = pick(self.world.submissions(), number)
        if submission is None:
            return
        runs = list(submission.runs.all())
        untouched = all(run.state == "queued" and not run.attempt_number for run in runs)
        try:
            cancel(submission, by=self.world.olga if by_organizer else submission.user)
        except Refused:
            return
        self.cancelled, self.was_untouched = submission.pk, untouched

    @rule(number=NUMBERS)
    def somebody_chooses(self, number):
        submission = pick(self.world.submissions(), number)
        if submission is not None:
            self.tried(lambda: choose(submission, by=submission.user))

    # What workers do.

    @rule(number=NUMBERS)
    def a_worker_takes_a_run(self, number):
        worker = pick([worker for worker in self.world.workers if worker.claimed is None], number)
        if worker is not None and (run := worker.take()) is not None:
            assert worker.worker.is_trusted or run.submission.phase.kind not in ("final", "automl")
            assert run.submission.phase.round.competition.queue_paused_at is None
            worker.beat()

    @rule(
        number=NUMBERS,
        how=st.sampled_from(["ok", "ok", "ok", "crashed", "timed_out", "infrastructure", "released"]),
    )
    def a_worker_reports(self, number, how):
        worker = pick([worker for worker in self.world.workers if worker.claimed is not None], number)
        if worker is None:
            return
        run = Run.objects.get(pk=worker.claimed["run"])
        attempt = Attempt.objects.get(run=run, number=worker.claimed["attempt"])
        holds = attempt.outcome == "open" and run.attempt_number == attempt.number
        if how == "ok":
            status = worker.report("ok", seed=number)
        elif how == "released":
            status = worker.report("released")
        else:
            status = worker.report("failed", how)
        assert (status == 200) == holds, (how, status, attempt.outcome, run.state)

    @rule(number=NUMBERS)
    def a_worker_beats(self, number):
        worker = pick([worker for worker in self.world.workers if worker.claimed is not None], number)
        if worker is not None:
            worker.beat(float(number % 7))

    @rule(number=NUMBERS, starts_again=st.booleans())
    def a_worker_is_killed(self, number, starts_again):
        worker = pick(self.world.workers, number)
        worker.claimed = None
        if starts_again:
            worker.announce(starting=True)

    @rule(number=NUMBERS)
    def scores_are_computed(self, number):
        waiting = list(Run.objects.filter(state="collected").order_by("pk"))
        for run in waiting[: 1 + number % 4]:
            score_run(run.pk)

    # What the clock does.

    @rule(delta=st.sampled_from([SECOND, 40 * SECOND, 20 * MINUTE, HOUR, 3 * HOUR, 9 * HOUR]))
    def time_passes(self, delta):
        self.clock.set(now() + delta)

    @rule(after=st.sampled_from([-SECOND, dt.timedelta(0), SECOND]))
    def time_passes_to_the_next_boundary(self, after):
        moments = {at for phase in self.world.phases() for at in (phase.opens_at, phase.closes_at)}
        coming = sorted(at + after for at in moments if at + after > now())
        if coming:
            self.clock.set(coming[0])

    @rule()
    def the_beat_looks(self):
        reconcile()
        handover.tick()
        curves.score_due(now())
        handover.tick()
        invariants.check_handovers(self.world)

    # What organizers do.

    def tried(self, act):
        try:
            act()
        except Refused:
            return False
        return True

    @rule(number=NUMBERS, what=st.sampled_from([Rerun, Disqualify, Disqualify, Requalify]), fresh=st.booleans())
    def the_organizer_acts_on_a_submission(self, number, what, fresh):
        candidates = self.world.submissions()
        if what is Requalify:
            candidates = [one for one in candidates if one.disqualified_at is not None]
        submission = pick(candidates, number)
        if submission is not None:
            more = {"fresh": fresh} if what is Rerun else {"why": "Copied."} if what is Disqualify else {}
            action = what(by=self.world.olga, submission=submission, **more)
            action.preview(now())
            self.tried(action.execute)

    @rule(number=NUMBERS, what=st.sampled_from(["rescore", "budget", "release", "reveal", "board"]))
    def the_organizer_acts_on_a_phase(self, number, what):
        phase = pick(self.world.phases(), number)
        olga = self.world.olga
        action = {
            "rescore": lambda: Rescore(by=olga, phase=phase),
            "budget": lambda: ChangeBudget(
                by=olga, phase=phase, wall_seconds=20.0 + number % 9, cores=None, memory_bytes=None
            ),
            "release": lambda: Release(by=olga, phase=phase),
            "reveal": lambda: Reveal(by=olga, phase=phase),
            "board": lambda: SetBoard(
                by=olga, phase=phase, board=pick(["shown", "shown", "frozen", "hidden"], number // 7)
            ),
        }[what]()
        self.tried(action.execute)

    @rule(number=NUMBERS, hours=st.integers(1, 5))
    def the_organizer_gives_time(self, number, hours):
        phase = pick(self.world.phases(), number)
        entrant = pick(list(Entrant.objects.all()), number // 7)
        later = max(phase.closes_at, now()) + hours * HOUR
        olga = self.world.olga
        if number % 2 or entrant is None:
            self.tried(ExtendDeadline(by=olga, phase=phase, closes_at=later).execute)
        else:
            self.tried(
                GiveExtraTime(by=olga, phase=phase, entrant=entrant, closes_at=later, why="A fault.").execute
            )

    @rule(pause=st.booleans())
    def the_organizer_pauses_or_goes_on(self, pause):
        contest = self.world.series.contest
        contest.refresh_from_db()
        action = PauseQueue if pause else ResumeQueue
        self.tried(action(by=self.world.olga, contest=contest).execute)

    @precondition(lambda self: self.chance.random() < 0.2)
    @rule(number=NUMBERS)
    def the_organizer_withdraws_an_entrant(self, number):
        entrant = pick(list(Entrant.objects.all()), number)
        if entrant is not None:
            self.tried(Withdraw(by=self.world.olga, entrant=entrant).execute)

    # What must hold.

    @invariant()
    def all_is_well(self):
        if self.world is None:
            return
        invariants.check_owners(self.world)
        invariants.check_submissions(self.world)
        self.ledger.take_in(cancelled=self.cancelled, was_untouched=self.was_untouched)
        self.cancelled = None
        invariants.check_quotas(self.world)
        invariants.check_boards(self.world)
        invariants.check_copies(self.world)

    @invariant()
    def nothing_leaks(self):
        if self.world is None:
            return
        viewer = self.chance.choice(leaks.VIEWERS)
        addresses = leaks.pages(self.world, viewer)
        leaks.check(self.world, viewer, self.chance.sample(addresses, PAGES_A_STEP))

    def everything_ends(self):
        """Whatever happened, with time and a worker everything comes to its end, and the pages can be opened."""
        self.read_pages()
        contest = self.world.series.contest
        contest.refresh_from_db()
        self.tried(ResumeQueue(by=self.world.olga, contest=contest).execute)
        for phase in self.world.phases():
            self.tried(Reveal(by=self.world.olga, phase=phase).execute)
        worker = self.world.workers[0]
        worker.claimed = None
        worker.announce(starting=True)
        self.clock.set(max(phase.closes_at for phase in self.world.phases()) + 40 * HOUR)
        for _ in range(60):
            reconcile()
            for phase in self.world.phases():
                self.tried(Reveal(by=self.world.olga, phase=phase).execute)
            handover.tick()
            while worker.take() is not None:
                worker.report("failed", "crashed")
            for pk in Run.objects.filter(state="collected").values_list("pk", flat=True):
                score_run(pk)
            if not Run.objects.exclude(state__in=invariants.FINAL).exists() and not handover.tick():
                break
            self.clock.set(now() + MINUTE)
        assert not Run.objects.exclude(state__in=invariants.FINAL).exists()
        self.all_is_well()
        invariants.check_handovers(self.world)
        for phase in self.world.phases():
            if phase.takes_over:
                assert handover.progress(phase, now()).is_complete, phase.title
        self.read_pages()

    def read_pages(self):
        """Let everybody read many pages."""
        for viewer in leaks.VIEWERS:
            addresses = leaks.pages(self.world, viewer)
            some = self.chance.sample(addresses, min(PAGES_IN_THE_END, len(addresses)))
            leaks.check(self.world, viewer, some)
