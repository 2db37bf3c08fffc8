"""The embedded broker: kombu's filesystem transport, with messages that appear whole and are taken by one.

kombu opens a message's file under its final name and writes it afterwards, so a reader that is quick finds it
empty, fails to decode it and takes the whole consumer down. Here a file gets its name when it is complete.
kombu also moves each message through the machine's shared temporary folder; here it stays in its own.
"""

import contextlib
import fcntl
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem
from kombu.utils import json

log = logging.getLogger(__name__)

dumps: Any = json.dumps  # kombu gives them no types
loads: Any = json.loads


def write_whole(path: Path, text: str) -> None:
    """Write a file that is either not there or complete."""
    fresh = path.with_name(f".{uuid4().hex}.new")
    fresh.write_text(text)
    fresh.replace(path)


class Channel(filesystem.Channel):
    """Messages as files of one folder; their names sort by the time of sending."""

    # kombu's own two classes disagree about the second name.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(time.monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        write_whole(Path(self.data_folder_out) / name, dumps(payload))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(path.name for path in folder.iterdir()):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = folder / f".{uuid4().hex}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue  # another consumer was faster
            text = taken.read_text()
            taken.unlink()
            try:
                return loads(text)
            except ValueError:
                log.warning("a message that cannot be read was dropped from %s", queue)
        raise Empty

    def get_table(self, exchange: str) -> list[Any]:
        """The queues that are bound to an exchange."""
        try:
            rows = loads(self._bindings_of(exchange).read_text())
        except (FileNotFoundError, ValueError):
            return []
        return [filesystem.exchange_queue_t(*row) for row in rows]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._binding():
            table = self.get_table(exchange)
            if bound not in table:
                write_whole(self._bindings_of(exchange), dumps([bound, *table]))

    def _bindings_of(self, exchange: str) -> Path:
        checked: Any = self._exchange_file  # refuses names that leave the folder
        return Path(checked(exchange))

    @contextlib.contextmanager
    def _binding(self) -> Iterator[None]:
        """Let one process at a time change the bindings."""
        with (Path(self.control_folder) / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    """What `filesystem://` means in this process once `ingestion.broker.broker_options` was asked for it."""

    Channel = Channel
