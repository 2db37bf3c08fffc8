"""Solutions at rest: what is stored is sealed, what is read is the text, and keys can be replaced."""

import io

import pytest
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from storages.backends.s3 import S3Storage

from datasets import encryption, storage
from datasets.encryption import HEAD_BYTES, PIECE, TAG_BYTES, BadKey, CannotDecrypt
from datasets.storage_s3 import SolutionObjects

OLD, NEW = encryption.new_key(), encryption.new_key()
LABELS = b"0\n1\n1\n0\n"


@pytest.fixture
def solutions():
    return storages["solutions"]


def sealed(content: bytes, setting: str = NEW, pieces: int = 1) -> bytes:
    step = max(1, -(-len(content) // pieces))
    parts = [content[begin : begin + step] for begin in range(0, len(content), step)]
    return b"".join(encryption.encrypted(parts, encryption.read_keys(setting)[0]))


def opened(content: bytes, setting: str = NEW) -> bytes:
    return b"".join(encryption.decrypted(io.BytesIO(content), encryption.read_keys(setting)))


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 7])
@pytest.mark.parametrize("pieces", [1, 3])
def test_a_file_of_any_length_comes_back_as_it_was(size, pieces):
    content = bytes(range(256)) * (size // 256 + 1)
    assert opened(sealed(content[:size], pieces=pieces)) == content[:size]


def test_the_same_file_never_looks_the_same_twice_and_shows_nothing():
    first, second = sealed(LABELS * 100), sealed(LABELS * 100)
    assert first[HEAD_BYTES:] != second[HEAD_BYTES:]
    assert LABELS not in first


def test_a_changed_cut_or_rearranged_file_is_not_read():
    whole = sealed(b"a" * PIECE + b"b" * PIECE + b"c")
    step = PIECE + TAG_BYTES
    head, one, two, last = whole[:HEAD_BYTES], *(whole[HEAD_BYTES + i * step :][:step] for i in range(3))
    assert opened(head + one + two + last).endswith(b"c")
    damaged = {
        "a byte of a piece": head + one[:-1] + bytes([one[-1] ^ 1]) + two + last,
        "the salt": head[:-1] + bytes([head[-1] ^ 1]) + one + two + last,
        "the last piece is gone": head + one + two,
        "cut within a piece": whole[:-3],
        "only the head": head,
        "a piece is gone": head + two + last,
        "two pieces changed places": head + two + one + last,
        "a piece twice": head + one + one + last,
        "more after the end": whole + last,
        "a head cut short": whole[:20],
    }
    for what, content in damaged.items():
        with pytest.raises(CannotDecrypt):
            assert opened(content) is None, what


def test_another_key_opens_nothing_and_the_error_shows_neither_key():
    with pytest.raises(CannotDecrypt) as caught:
        opened(sealed(LABELS, OLD), NEW)
    assert NEW not in str(caught.value) and OLD not in str(caught.value)


def test_a_key_that_stands_behind_the_first_still_opens():
    assert opened(sealed(LABELS, OLD), f"{NEW}, {OLD}") == LABELS


@pytest.mark.parametrize(
    "setting",
    ["secret", "c2hvcnQ=", f"{NEW},no", "ä" * 44, NEW[:-4]],
    # Named, because keys are made anew and a test must have the same name in every process.
    ids=["a word", "too short", "the second is none", "other letters", "cut off"],
)
def test_a_setting_that_is_no_key_is_refused_without_being_shown(setting):
    with pytest.raises(BadKey) as caught:
        encryption.read_keys(setting)
    assert setting not in str(caught.value)


def test_no_setting_is_no_key():
    assert encryption.read_keys("") == encryption.read_keys(" , ") == []


def test_a_stored_solution_is_sealed_on_the_disk_and_read_as_its_text(settings, solutions):
    settings.SOLUTIONS_KEY = NEW
    name = solutions.save("solutions/a.solution", ContentFile(LABELS))
    with open(solutions.path(name), "rb") as file:
        assert LABELS not in file.read()
    with solutions.open(name) as file:
        assert file.read() == LABELS
    assert solutions.key_id(name) == storage.keys()[0].id


def test_what_was_stored_before_there_was_a_key_is_still_read(settings, solutions):
    name = solutions.save("solutions/b.solution", ContentFile(LABELS))
    assert solutions.key_id(name) is None
    settings.SOLUTIONS_KEY = NEW
    assert solutions.open(name).read() == LABELS


def test_without_its_key_a_stored_solution_is_named_and_not_read(settings, solutions):
    settings.SOLUTIONS_KEY = NEW
    name = solutions.save("solutions/c.solution", ContentFile(LABELS))
    settings.SOLUTIONS_KEY = ""
    with pytest.raises(CannotDecrypt, match=name):
        solutions.open(name)


def test_replacing_leaves_no_scratch_file_behind(solutions):
    name = solutions.save("replaced/d.solution", ContentFile(LABELS))
    solutions.replace(name, ContentFile(b"1\n"))
    assert solutions.open(name).read() == b"1\n"
    assert solutions.listdir("replaced")[1] == ["d.solution"]


@pytest.fixture
def bucket(monkeypatch):
    """Solutions in a store of objects that is a dictionary here."""
    objects = {}

    def save(self, name, content):
        content.seek(0)
        objects[name] = content.read()
        return name

    monkeypatch.setattr(S3Storage, "_save", save)
    monkeypatch.setattr(
        S3Storage, "_open", lambda self, name, mode="rb": File(io.BytesIO(objects[name]), name=name)
    )
    monkeypatch.setattr(S3Storage, "get_available_name", lambda self, name, max_length=None: name)
    return objects


def test_in_a_bucket_they_are_sealed_alike(settings, bucket):
    store = SolutionObjects(bucket_name="b", access_key="a", secret_key="s")
    name = store.save("a.solution", ContentFile(LABELS))
    assert bucket[name] == LABELS
    settings.SOLUTIONS_KEY = NEW
    assert store.open(name).read() == LABELS
    sealed_name = store.save("b.solution", ContentFile(LABELS))
    assert LABELS not in bucket[sealed_name]
    assert store.open(sealed_name).read() == LABELS
    assert (store.key_id(name), store.key_id(sealed_name)) == (None, storage.keys()[0].id)
    store.replace(name, ContentFile(bucket[sealed_name]))
    assert bucket[name] == bucket[sealed_name]


def test_what_is_opened_in_memory_has_no_place_on_a_disk(settings, solutions):
    settings.SOLUTIONS_KEY = NEW
    name = solutions.save("solutions/e.solution", ContentFile(LABELS))
    settings.FILE_UPLOAD_TEMP_DIR = "/does/not/exist"
    assert solutions.open(name).read() == LABELS
