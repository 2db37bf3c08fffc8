"""Sending the mails that wait.

A mail is taken by compare-and-set, so that it is sent once however many workers look. A worker that dies with one
in its hands loses it at its deadline, and another sends it again: rather twice, with the same id, than never.
Where the mail server cannot be reached no try is used up; the mails wait for it, three days at most.
"""

import datetime as dt
import logging
import smtplib
from time import monotonic
from typing import Any

from django.core.mail import get_connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from competitions.models import Delivery
from competitions.telling import bell, mail

log = logging.getLogger(__name__)

SLICE_SECONDS = 20.0  # then others of the site's worker get their turn
AT_ONCE = 50
LEASE = dt.timedelta(minutes=2)
SERVER_REST = dt.timedelta(minutes=1)
AFTER_TRIES = (1, 5, 15, 60)  # minutes until the next try
MOST_TRIES = len(AFTER_TRIES) + 1
KEPT_FOR = dt.timedelta(days=3)
State = Delivery.State


def due(now: dt.datetime) -> QuerySet[Delivery]:
    """The mails that may be sent now. None of them is of a rehearsal, whatever made it."""
    waiting = Delivery.objects.filter(state=State.WAITING, announcement__competition__rehearses=None)
    return waiting.filter(Q(deadline=None) | Q(deadline__lte=now)).order_by("pk")


def deliver() -> None:
    """Send mails for some seconds; where more are due, the bell rings again."""
    sender = Sender()
    end = monotonic() + SLICE_SECONDS
    try:
        while monotonic() < end and not sender.is_down:
            found = list(due(timezone.now()).select_related("announcement__competition", "user")[:AT_ONCE])
            if not found:
                return
            for delivery in found:
                if monotonic() >= end or sender.is_down:
                    break
                if taken(delivery):
                    sender.send(delivery)
    finally:
        sender.close()
    if not sender.is_down and due(timezone.now()).exists():
        bell.ring()


def taken(delivery: Delivery) -> bool:
    """Whether this process may send it: exactly one that asks may."""
    mine = Delivery.objects.filter(pk=delivery.pk, state=State.WAITING, tries=delivery.tries)
    delivery.tries += 1
    return bool(mine.update(state=State.SENDING, tries=delivery.tries, deadline=timezone.now() + LEASE))


class Sender:
    """One connection to the mail server, opened with the first mail. `is_down`: it cannot be reached now."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.is_down = False

    def send(self, delivery: Delivery) -> None:
        """Send one mail that was taken, and write down what became of it."""
        try:
            if self.connection is None:
                self.connection = get_connection()
                self.connection.open()
            self.connection.send_messages([mail.message(delivery)])
        except smtplib.SMTPRecipientsRefused as problem:
            codes = [code for code, _ in problem.recipients.values()]
            self._refused(delivery, max(codes, default=0), "The mail server refused the address")
        except smtplib.SMTPDataError as problem:
            self._refused(delivery, int(problem.smtp_code), "The mail server refused the mail")
        except (smtplib.SMTPException, OSError) as problem:  # also our own address, or our password, was refused
            self._unreachable(delivery, problem)
        except ValueError as problem:  # of headers and addresses that no mail can have
            log.warning("delivery %s cannot be put into a mail: %s", delivery.pk, problem)
            _end(delivery, State.FAILED, "The address cannot be put into a mail.")
        else:
            _end(delivery, State.SENT, "")

    def close(self) -> None:
        """Say goodbye, as far as somebody listens."""
        if self.connection is not None:
            try:
                self.connection.close()
            except (smtplib.SMTPException, OSError) as problem:
                log.info("the mail server ended first: %s", problem)

    def _refused(self, delivery: Delivery, code: int, what: str) -> None:
        """The server answered with no: for good from 500 on, else for now."""
        if code >= 500 or delivery.tries >= MOST_TRIES:
            _end(delivery, State.FAILED, f"{what} ({code}).")
        else:
            minutes = AFTER_TRIES[delivery.tries - 1]
            _again(delivery, dt.timedelta(minutes=minutes), f"{what} for now ({code}).")

    def _unreachable(self, delivery: Delivery, problem: Exception) -> None:
        log.warning("the mail server cannot be reached: %s", problem)
        self.is_down = True
        _again(delivery, SERVER_REST, "The mail server cannot be reached.", tries=delivery.tries - 1)


def _held(delivery: Delivery) -> QuerySet[Delivery]:
    return Delivery.objects.filter(pk=delivery.pk, state=State.SENDING, tries=delivery.tries)


def _end(delivery: Delivery, state: str, problem: str) -> None:
    _held(delivery).update(state=state, deadline=None, problem=problem)


def _again(delivery: Delivery, after: dt.timedelta, problem: str, *, tries: int | None = None) -> None:
    fields = {"state": State.WAITING, "deadline": timezone.now() + after, "problem": problem}
    _held(delivery).update(**fields, tries=delivery.tries if tries is None else tries)


def reconcile(now: dt.datetime | None = None) -> None:
    """Take up mails whose worker was lost, give up those that waited too long, and ring for those that are due."""
    now = now or timezone.now()
    lost = Delivery.objects.filter(state=State.SENDING, deadline__lt=now)
    given_up = "The site was stopped while it sent this, again and again."
    lost.filter(tries__gte=MOST_TRIES).update(state=State.FAILED, deadline=None, problem=given_up)
    lost.update(state=State.WAITING, deadline=None)
    old = Delivery.objects.filter(state=State.WAITING, announcement__sent_at__lt=now - KEPT_FOR)
    old.update(state=State.FAILED, deadline=None, problem="The mail server could not be reached for three days.")
    if due(now).exists():
        bell.ring()
