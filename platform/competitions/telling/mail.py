"""An announcement as a mail, and the link by which a person ends the mails of a competition."""

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from competitions.markdown import render_markdown
from competitions.models import Announcement, Delivery, Participant

SALT = "podium.mail"
OWN_LINK = re.compile(r'\b(href|src)="/(?!/)')


def message(delivery: Delivery, connection: Any = None) -> EmailMultiAlternatives:
    """The mail to one recipient: text as it was typed, and the same as HTML.

    Its id is that of the delivery, so that a mail that had to be sent twice is shown once. The headers of RFC 8058
    let a mail program end the mails with one click.
    """
    announcement = delivery.announcement
    ending = settings.PODIUM_URL + reverse(
        "stop_mail", args=[token(announcement.competition_id, delivery.user_id)]
    )
    context = {**words(announcement), "ending": ending}
    host = urlsplit(settings.PODIUM_URL).hostname or "localhost"
    made = EmailMultiAlternatives(
        subject=subject(announcement),
        body=render_to_string("mail/announcement.txt", context),
        to=[delivery.user.email],
        connection=connection,
        headers={
            "Message-ID": f"<delivery-{delivery.pk}-{announcement.pk}@{host}>",
            "List-Unsubscribe": f"<{ending}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    made.attach_alternative(render_to_string("mail/announcement.html", context), "text/html")
    return made


def subject(announcement: Announcement) -> str:
    """The subject on one line, after the competition's title."""
    return " ".join(f"[{announcement.competition.title}] {announcement.subject}".split())


def words(announcement: Announcement) -> dict[str, Any]:
    """The variables of the mail's templates; links of ours get the site's address in front."""
    html = OWN_LINK.sub(rf'\1="{settings.PODIUM_URL}/', render_markdown(announcement.body))
    where = reverse("announcements", args=[announcement.competition.slug])
    return {
        "announcement": announcement,
        "competition": announcement.competition,
        "html": html,
        "address": f"{settings.PODIUM_URL}{where}#announcement-{announcement.pk}",
    }


def token(competition_id: int, user_id: int) -> str:
    """What a link carries that ends the mails of a competition to a person; signed, and good for ever."""
    return signing.dumps([competition_id, user_id], salt=SALT)


def of_token(given: str) -> Participant | None:
    """Whose mails a link ends; None for a link that is not ours, and for who does not take part any more."""
    try:
        competition, user = signing.loads(given, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    found = Participant.objects.filter(competition=competition, user=user)
    return found.select_related("competition").first()
