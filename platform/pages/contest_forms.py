"""The forms in which a competition is made, set, written and cloned."""

import datetime as dt
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.utils import timezone

from competitions import allow_list
from competitions.actions.pages import LONGEST_TEXT
from competitions.actions.settings import FIELDS, is_settled
from competitions.blueprints import BLANK, BLUEPRINTS, Blueprint
from competitions.models import Competition, Page
from competitions.models.contest import RESERVED_SLUGS
from pages.zones import LocalMoment, OwnZone, names

if TYPE_CHECKING:
    OfCompetition = forms.ModelForm[Competition]
else:
    OfCompetition = forms.ModelForm

TEMPLATES = {blueprint.name: blueprint for blueprint in (*BLUEPRINTS.values(), BLANK)}
BLANK_TEXT = "Blank. Rounds and phases are added one by one."


def described(blueprint: Blueprint) -> str:
    """A template as the form offers it: its name, and what it sets up."""
    return BLANK_TEXT if blueprint is BLANK else f"{blueprint.title}. {blueprint.summary}"


class Address(forms.CharField):
    """The part of an address that names a competition; empty where it follows from the title."""

    def __init__(self, **options: Any) -> None:
        options = {
            "label": "Address",
            "required": False,
            "max_length": 80,
            "help_text": "What stands behind /competitions/ in its address. Empty: it comes from the title.",
            **options,
        }
        super().__init__(validators=[validate_slug], **options)

    def clean(self, value: Any) -> str:
        """The slug, free and not the site's own."""
        slug = str(super().clean(value)).lower()
        if slug in RESERVED_SLUGS or Competition.objects.filter(slug=slug).exists():
            raise ValidationError("This address is taken.")
        return slug


class NewCompetition(forms.Form):
    """A title, a template, and when it starts; everything else is set afterwards."""

    title = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    template = forms.ChoiceField(
        widget=forms.RadioSelect,
        label="Start from",
        help_text="A template sets rounds, phases, budgets and rules. All of it can be changed.",
    )
    starts_at = LocalMoment(label="First phase opens", required=False)
    time_zone = forms.ChoiceField(
        label="Time zone",
        required=False,
        help_text="It is kept with your account, and is where your times are typed from now on.",
    )
    slug = Address()

    def __init__(self, *args: Any, zone: OwnZone, **options: Any) -> None:
        options.setdefault("label_suffix", "")
        super().__init__(*args, **options)
        for name, choices in (
            ("template", [(name, described(one)) for name, one in TEMPLATES.items()]),
            ("time_zone", [("", f"{zone.name}, {zone.source}"), *((name, name) for name in names())]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        self.initial.setdefault("template", next(iter(TEMPLATES)))
        self.initial.setdefault("starts_at", next_midnight())

    def clean(self) -> dict[str, Any]:
        """A template has dates, so it needs a start."""
        given = super().clean() or {}
        template = given.get("template")
        if template not in (None, BLANK.name) and not given.get("starts_at") and "starts_at" not in self.errors:
            self.add_error("starts_at", "The phases of a template follow from this moment.")
        return given


def next_midnight() -> dt.datetime:
    """The next midnight in the active time zone."""
    local = timezone.localtime() + dt.timedelta(days=1)
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


class CloneForm(forms.Form):
    """What the copy is called, and when it begins."""

    title = forms.CharField(max_length=120)
    slug = Address()
    start = LocalMoment(
        label="First phase opens",
        help_text="All other dates move by as much. With a moment that has passed, phases of the copy are open or "
        "over at once.",
    )

    def __init__(self, *args: Any, has_phases: bool, **options: Any) -> None:
        options.setdefault("label_suffix", "")
        super().__init__(*args, **options)
        if not has_phases:
            del self.fields["start"]


class SettingsForm(OfCompetition):
    """What a competition is called, who reads it and joins, and how large teams are."""

    teams_close_at = LocalMoment(
        required=False, label="Teams close", help_text="From then on teams neither form nor change. Empty: never."
    )
    merges_close_at = LocalMoment(
        required=False,
        label="Merging ends",
        help_text="From then on teams do not merge. Empty: as long as teams may change.",
    )

    class Meta:
        model = Competition
        fields = FIELDS
        labels = {
            "slug": "Address",
            "visibility": "Who may read it",
            "registration": "Who may join",
            "allowed_emails": "E-mail list",
            "max_team_size": "Largest team",
        }
        help_texts = {
            "summary": "One or two sentences for the list of competitions.",
            "allowed_emails": "A line is an address like alice@example.org or a domain like @example.org. Only "
            "addresses that their owners verified count.",
            "max_team_size": "1: everybody competes alone.",
        }
        widgets = {
            "summary": forms.Textarea(attrs={"rows": 2}),
            "allowed_emails": forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
            "visibility": forms.RadioSelect,
            "registration": forms.RadioSelect,
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("label_suffix", "")
        super().__init__(*args, **options)
        self.shown = {name: getattr(self.instance, name) for name in FIELDS}
        slug = self.fields["slug"]
        slug.disabled = is_settled(self.instance)
        slug.help_text = (
            "It stays, because others have links to it."
            if slug.disabled
            else "What stands behind /competitions/; it can be changed until it is first published."
        )

    def clean_allowed_emails(self) -> str:
        """The list with one entry a line."""
        return allow_list.tidied(self.cleaned_data["allowed_emails"])

    def values(self) -> dict[str, Any]:
        """The values of the fields; a moment that was sent back as it was shown is the one that was shown."""
        given = {name: self.cleaned_data[name] for name in FIELDS}
        for name in ("teams_close_at", "merges_close_at"):
            field = self.fields[name]
            assert isinstance(field, LocalMoment)
            given[name] = field.unless_shown(given[name], self.shown[name])
        return given


TEXT = forms.CharField(
    required=False,
    max_length=LONGEST_TEXT,
    label="Text",
    strip=False,
    widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
)


class TextForm(forms.Form):
    """The text of one of the pages that all competitions have, and a picture to put into it."""

    text = TEXT
    picture = forms.FileField(required=False, label="Add a picture", widget=forms.FileInput)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("label_suffix", "")
        super().__init__(*args, **options)
        self.fields["picture"].widget.attrs["accept"] = "image/png,image/jpeg,image/gif,image/webp"

    def clean_text(self) -> str:
        """Lines end as in every other text here, however the browser ends them."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")


class PageForm(TextForm):
    """An added page: its title, too."""

    title = forms.CharField(max_length=Page._meta.get_field("title").max_length)

    field_order = ("title", "text", "picture")


class NewPage(forms.Form):
    """The title of a page to add."""

    title = forms.CharField(max_length=Page._meta.get_field("title").max_length)

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("label_suffix", "")
        super().__init__(*args, **options)
