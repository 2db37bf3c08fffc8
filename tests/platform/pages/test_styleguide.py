"""The components: each is on the styleguide, ties what belongs together, and escapes what strangers wrote."""

import re
from pathlib import Path

import pytest
from django import forms
from django.template import Context, Template

from pages.views.styleguide import Example

PARTS = Path(__file__).parents[3] / "platform/pages/templates/parts"
ELSEWHERE = {"logo.html", "pager.html"}  # the logo is in the head of every page, numbered pages in few lists


def rendered(source: str, **context: object) -> str:
    return Template("{% load parts podium %}" + source).render(Context(context))


@pytest.mark.django_db
def test_every_component_is_on_the_styleguide(client):
    answer = client.get("/styleguide/")
    shown = {template.name.removeprefix("parts/") for template in answer.templates}
    assert {path.name for path in PARTS.glob("*.html")} - ELSEWHERE <= shown


@pytest.mark.django_db
def test_the_styleguide_has_no_address_and_no_name_twice(client):
    ids = re.findall(r' id="([^"]+)"', client.get("/styleguide/").content.decode())
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("is_wrong", [False, True])
def test_everything_a_field_refers_to_is_there(is_wrong):
    form = Example({} if is_wrong else None)
    page = rendered('{% include "parts/fields.html" %}', form=form)
    ids = set(re.findall(r' id="([^"]+)"', page))
    described = {one for found in re.findall(r'aria-describedby="([^"]+)"', page) for one in found.split()}
    assert described <= ids
    assert set(re.findall(r'<label for="([^"]+)"', page)) <= ids
    assert ("errorlist" in page) == is_wrong


def test_texts_of_strangers_are_escaped():
    class Question(forms.Form):
        answer = forms.CharField(label="<b>l</b>", help_text="<script>h</script>")

    page = rendered('{% include "parts/field.html" with field=form.answer %}', form=Question())
    page += rendered("{% panel name %}{{ name }}{% endpanel %}{% table name %}{% endtable %}", name='"<i>x')
    page += rendered('{% confirm name id="a" question=name typed=name %}{% endconfirm %}', name='"<i>x')
    assert "<script>" not in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_a_question_before_something_carries_the_token_and_what_stands_inside():
    page = rendered(
        '{% confirm "Remove" id="x" question="Sure?" action="/away/" %}<input name="who" value="7">'
        "{% endconfirm %}",
        csrf_token="secret",
    )
    form = page[page.index("<form") :]
    assert 'action="/away/"' in form
    assert 'name="csrfmiddlewaretoken" value="secret"' in form
    assert 'name="who" value="7"' in form
