"""What is looked at before a compute worker starts to serve: the address, the token, the sandbox, the slots."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.home import podium_home
from ingestion.budget import Capacity, format_size
from ingestion.sandbox import Sandbox, choose_sandbox
from ingestion.site import Gone, Site, SiteError, Unreachable, address_problem
from ingestion.waits import growing

SLOTS = "PODIUM_SLOTS"


class CannotStart(Exception):
    """A worker cannot start here; the text says what is wrong, with what, and what to do."""


@dataclass(frozen=True)
class Slot:
    """One slot of a machine: its worker's name and token."""

    name: str
    token: str


def slot_names(name: str, slots: int) -> list[str]:
    """The names of a machine's workers: the name itself for one, `name-1`, `name-2` ... for several."""
    return [name] if slots == 1 else [f"{name}-{number}" for number in range(1, slots + 1)]


def wanted_slots(asked: int | None) -> int:
    """How many slots to start: as asked, else PODIUM_SLOTS, else 1. Raises CannotStart where they do not fit."""
    from ingestion.worker import slots_of_environment

    try:
        slots = asked if asked is not None else slots_of_environment(SLOTS)
        Capacity.of_this_machine().for_a_run(slots)
    except ValueError as error:
        raise CannotStart(f"{error}.") from error
    return slots


def share_in_words(slots: int) -> str:
    """What one run gets here, in words."""
    share = Capacity.of_this_machine().for_a_run(slots)
    cores = "1 core" if share.cores == 1 else f"{share.cores} cores"
    return f"{cores} and {format_size(share.memory_bytes)} of memory"


def slots_of_tokens(name: str, tokens: Sequence[str], asked: int | None) -> list[Slot]:
    """The slots of a machine whose site is elsewhere: one for each token. Raises CannotStart on a wrong count."""
    if asked is not None and asked != len(tokens):
        has = "holds 1 token" if len(tokens) == 1 else f"holds {len(tokens)} tokens"
        raise CannotStart(
            f"PODIUM_WORKER_TOKEN {has}, and {asked} slots need one each. Make them on the site: "
            f"./podium manage worker_token {name} --slots {asked}"
        )
    wanted_slots(len(tokens))
    return [Slot(*pair) for pair in zip(slot_names(name, len(tokens)), tokens, strict=True)]


def has_installation() -> bool:
    """Whether this data folder, or DATABASE_URL, holds a site of its own."""
    return bool(os.environ.get("DATABASE_URL")) or (podium_home() / "podium.sqlite3").exists()


def require_installation() -> None:
    """Raise CannotStart where a worker without a token would have to make a site of its own to belong to."""
    if has_installation():
        return
    if os.environ.get("PODIUM_URL"):
        raise CannotStart(
            "PODIUM_URL is set, but not PODIUM_WORKER_TOKEN, by which its site knows a worker. Make one there: "
            "./podium manage worker_token NAME"
        )
    raise CannotStart(
        f"There is no site in {podium_home()}. Start one with ./podium up, or set PODIUM_URL and "
        "PODIUM_WORKER_TOKEN to work for a site elsewhere."
    )


def usable_sandbox() -> Sandbox:
    """The sandbox that runs would be in, tried out. Raises NoSandbox."""
    return choose_sandbox(image=os.environ.get("PODIUM_SANDBOX_IMAGE") or None)


def greet(url: str, slots: Sequence[Slot], *, say: Callable[[str], None], wait: Callable[[float], None]) -> None:
    """Ask the site whether it knows each token; while it does not answer, say so and try again ever more rarely.

    Raises CannotStart where waiting does not help: a token that it does not know, or no site at this address.
    """
    problem = address_problem(url)
    if problem:
        raise CannotStart(problem)
    for slot in slots:
        pauses = growing()
        while True:
            try:
                Site(url, slot.token).call("hello", {})
                break
            except Unreachable as problem_now:
                pause = next(pauses)
                say(f"{str(problem_now).rstrip('.')}; trying again in {pause:.0f} s. Ctrl-C ends this.")
                wait(pause)
            except Gone as answer:
                raise CannotStart(f"What answers at {url} is an older Podium: {answer}") from answer
            except SiteError as refusal:
                mend = (
                    " Make a new one there: ./podium manage worker_token NAME" if "token" in str(refusal) else ""
                )
                raise CannotStart(f"{refusal}{mend}") from refusal
