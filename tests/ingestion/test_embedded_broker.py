"""The embedded broker: every message arrives once and whole, however many send and take at the same time."""

import threading
from queue import Empty

import pytest
from celery import Celery

from ingestion.broker import broker_options
from ingestion.embedded_broker import Channel

QUEUE = "compute.default"


@pytest.fixture
def app(tmp_path):
    app = Celery("test-broker", set_as_current=False)
    url = "filesystem://"
    app.conf.update(broker_url=url, broker_transport_options=broker_options(url, tmp_path / "broker"))
    return app


def channel(app):
    return app.connection().channel()


def take_all(of):
    taken = []
    while True:
        try:
            taken.append(of._get(QUEUE))
        except Empty:
            return taken


def test_celery_uses_it_for_the_filesystem_address(app):
    assert isinstance(channel(app), Channel)


def test_a_task_that_is_sent_is_taken_once_and_its_file_is_gone(app, tmp_path):
    app.send_task("ingestion.run", args=[7], queue=QUEUE)
    (message,) = take_all(channel(app))
    assert message["headers"]["task"] == "ingestion.run"
    assert take_all(channel(app)) == []
    assert list((tmp_path / "broker" / "messages").iterdir()) == []


def test_messages_come_in_the_order_in_which_they_were_sent(app):
    sender = channel(app)
    for number in range(5):
        sender._put(QUEUE, {"number": number})
        threading.Event().wait(0.002)
    assert [message["number"] for message in take_all(sender)] == [0, 1, 2, 3, 4]


def test_a_message_of_another_queue_is_left_for_its_consumer(app):
    sender = channel(app)
    sender._put("site", {"number": 1})
    assert take_all(sender) == []
    assert sender._get("site") == {"number": 1}


def test_a_file_that_is_no_message_is_dropped_and_does_not_stop_the_consumer(app, tmp_path):
    sender = channel(app)
    folder = tmp_path / "broker" / "messages"
    (folder / f"0_empty.{QUEUE}.msg").write_text("")
    (folder / f"0_half.{QUEUE}.msg").write_text('{"number": ')
    sender._put(QUEUE, {"number": 1})
    assert take_all(sender) == [{"number": 1}]


def test_many_that_send_and_take_at_once_lose_nothing_and_double_nothing(app):
    sent, taken, done = 150, [], threading.Event()

    def send(first):
        own = channel(app)
        for number in range(first, first + sent):
            own._put(QUEUE, {"number": number})

    def take():
        own = channel(app)
        while not done.is_set():
            taken.extend(message["number"] for message in take_all(own))

    takers = [threading.Thread(target=take) for _ in range(3)]
    senders = [threading.Thread(target=send, args=(first * sent,)) for first in range(3)]
    for thread in (*takers, *senders):
        thread.start()
    for thread in senders:
        thread.join()
    done.set()
    for thread in takers:
        thread.join()
    taken.extend(message["number"] for message in take_all(channel(app)))
    assert sorted(taken) == list(range(3 * sent))


def test_bindings_made_at_once_are_all_kept(app):
    names = [f"queue{number}" for number in range(20)]
    own = [channel(app) for _ in names]
    threads = [
        threading.Thread(target=one._queue_bind, args=("exchange", name, "", name))
        for one, name in zip(own, names, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row.queue for row in own[0].get_table("exchange")) == sorted(names)
