"""Pictures in organizers' texts: their own, from our own address, and nothing from anywhere else."""

import pytest

from competitions.markdown import render_markdown

AT = "/competitions/contest/images/"


def test_a_picture_is_shown_by_its_name():
    html = render_markdown("![Two *curves*](curve-2.png)", pictures_at=AT)
    assert f'src="{AT}curve-2.png"' in html
    assert 'alt="Two curves"' in html


def test_a_text_that_belongs_to_no_competition_shows_the_description():
    html = render_markdown("![Two curves](curve.png)")
    assert "<img" not in html
    assert "Two curves" in html


@pytest.mark.parametrize("source", ["https://x.org/a.png", "http://x.org/a.png"])
def test_a_picture_from_another_host_becomes_a_link(source):
    html = render_markdown(f"![Two curves]({source})", pictures_at=AT)
    assert "<img" not in html
    assert f'<a href="{source}"' in html
    assert "Two curves</a>" in html


@pytest.mark.parametrize(
    "source",
    [
        "javascript:alert(1)",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "//x.org/a.png",
        "../../accounts/logout/",
        "/competitions/contest/join/",
        "a.svg",
        "a.png?x=1",
        "a/b.png",
        "A.PNG",
        '<a.png" onerror=alert(1)>',
    ],
)
def test_nothing_else_is_loaded(source):
    html = render_markdown(f"![it]({source})", pictures_at=AT)
    assert "<img" not in html
    assert "<script" not in html


def test_a_picture_carries_no_other_attributes():
    html = render_markdown('![a" onerror="alert(1)](a.png "t\\" onload=\\"x")', pictures_at=AT)
    assert html.count("<img") == 1
    assert 'onerror="' not in html
    assert "onload=" not in html


def test_html_inside_a_text_shows_the_same_pictures():
    html = render_markdown(
        '<div>\n<img src="a.png" onerror="x()"><img src="https://x.org/a.png">\n</div>', pictures_at=AT
    )
    assert html.count("<img") == 1
    assert f'src="{AT}a.png"' in html
    assert "onerror" not in html
