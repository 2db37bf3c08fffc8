"""A real Chromium, and pages that note every complaint and every request that leaves the site."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import User

PATIENCE = 20_000  # milliseconds: machines that test are busy
expect.set_options(timeout=PATIENCE)


class Complaints(list[str]):
    """What a page did that it must not do."""

    def watch(self, page: Page, origin: str) -> Page:
        """Note errors of scripts, the console (so also violations of the policy) and foreign requests."""
        page.on("pageerror", lambda error: self.append(f"script error: {error}"))
        page.on("console", lambda line: line.type in ("error", "warning") and self.append(f"console: {line.text}"))
        page.on("request", lambda request: self._check(request.url, origin))
        return page

    def _check(self, url: str, origin: str) -> None:
        if not url.startswith((origin + "/", "data:")):
            self.append(f"request to another host: {url}")


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """The complaints of a test's pages; a test that leaves some fails."""
    noted = Complaints()
    yield noted
    assert noted == []


@pytest.fixture
def open_page(browser, live_server, complaints) -> Iterator[Callable[..., Page]]:
    """Opens a page in a fresh context, logged in as `user` where one is given."""
    contexts: list[BrowserContext] = []

    def opened(user=None, **options) -> Page:
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = complaints.watch(context.new_page(), live_server.url)
        if user is not None:
            log_in(page, user.username)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def sign_in(live_server) -> Callable[[Page, User], None]:
    """Gives a page's browser the session of somebody, without the form."""

    def signed_in(page: Page, user: User) -> None:
        client = Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])

    return signed_in


def log_in(page: Page, username: str, password: str = "correct horse battery") -> None:
    """Log in through the form, as a person does."""
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    page.wait_for_url("**/competitions/**")
