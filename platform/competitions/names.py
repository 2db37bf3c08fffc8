"""Names of teams and entrants: one spelling of each, nothing invisible, nothing that passes for another's name."""

import unicodedata
from collections.abc import Iterable

from accounts.refusals import Refused

LONGEST = 60
MOST_MARKS = 3  # combining marks on one letter; "zalgo" piles up dozens
MOST_PICTURES = 3

# Letters that print nothing although Unicode counts them as letters, marks or symbols.
INVISIBLE = frozenset(
    "\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}"
    "\N{BRAILLE PATTERN BLANK}\N{COMBINING GRAPHEME JOINER}\N{KHMER VOWEL INHERENT AQ}\N{KHMER VOWEL INHERENT AA}"
)
UNPRINTED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")

# What looks alike in common fonts, each written as the Latin letter it passes for (after Unicode's report 39,
# "confusables", for the scripts that carry most of them). Digits and l, I, o are folded too.
LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("аɑα", "a"),
        **dict.fromkeys("вβᏼƅь", "b"),
        **dict.fromkeys("сϲⅽᴄ", "c"),
        **dict.fromkeys("ԁɗ", "d"),
        **dict.fromkeys("еєҽεҿ", "e"),
        **dict.fromkeys("ɡց9", "g"),
        **dict.fromkeys("һհнη", "h"),
        **dict.fromkeys("іıιɩӏі1ⅼ|!lјϳ", "i"),
        **dict.fromkeys("кκĸ", "k"),
        **dict.fromkeys("мμ", "m"),
        **dict.fromkeys("пոռ", "n"),
        **dict.fromkeys("оοσօ0ө", "o"),
        **dict.fromkeys("рρ", "p"),
        **dict.fromkeys("ԛզ", "q"),
        **dict.fromkeys("гг", "r"),
        **dict.fromkeys("ѕꜱ5$", "s"),
        **dict.fromkeys("тτ", "t"),
        **dict.fromkeys("υսцᴜ", "u"),
        **dict.fromkeys("νѵᴠ", "v"),
        **dict.fromkeys("ѡωшԝᴡ", "w"),
        **dict.fromkeys("хχ", "x"),
        **dict.fromkeys("уүγʏ", "y"),
        **dict.fromkeys("ᴢ", "z"),
    }
)


def tidy(text: str) -> str:
    """The text in one spelling: NFKC, without what prints nothing, blanks single, at most `LONGEST` characters."""
    normal = unicodedata.normalize("NFKC", text)
    printed = "".join(
        " " if letter.isspace() else letter for letter in normal if letter.isspace() or not _prints_nothing(letter)
    )
    return " ".join(printed.split())[:LONGEST].strip()


def _prints_nothing(letter: str) -> bool:
    is_selector = "\ufe00" <= letter <= "\ufe0f" or "\u180b" <= letter <= "\u180d" or letter == "\u180f"
    return is_selector or letter in INVISIBLE or unicodedata.category(letter) in UNPRINTED


def skeleton(name: str) -> str:
    """The same text for names that look alike: without case, marks, blanks and signs, lookalikes folded."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    letters = apart.translate(LOOKALIKES)
    return "".join(filter(_distinguishes, letters)).replace("rn", "m").replace("vv", "w")


def _distinguishes(letter: str) -> bool:
    """Letters and digits do; accents (combining class 200 and up) do not, but vowel signs of other scripts do."""
    is_sign = unicodedata.category(letter) in ("Mn", "Mc") and unicodedata.combining(letter) < 200
    return letter.isalnum() or is_sign


def checked(text: str, *, taken: Iterable[str]) -> str:
    """The tidied name; raises Refused for one that cannot be read, or that looks like one of `taken`."""
    if len(text) > 10 * LONGEST or len(unicodedata.normalize("NFKC", text).strip()) > LONGEST:
        raise Refused(f"A name has at most {LONGEST} characters.")
    name = tidy(text)
    if not any(letter.isalnum() for letter in name):
        raise Refused("A name needs at least one letter or digit.")
    if _most_marks(name) > MOST_MARKS:
        raise Refused(f"A name has at most {MOST_MARKS} marks on one letter.")
    if sum(unicodedata.category(letter) == "So" for letter in name) > MOST_PICTURES:
        raise Refused(f"A name has at most {MOST_PICTURES} pictures.")
    alike = next((other for other in taken if skeleton(other) == skeleton(name)), None)
    if alike is not None:
        raise Refused(f"The name {name!r} is taken, or looks like {alike!r}.", status=409, mend="Choose another.")
    return name


def distinct(text: str, *, taken: Iterable[str]) -> str:
    """A name of a person that looks like no other here: where it would, a number tells the two apart."""
    name = tidy(text)
    if not any(letter.isalnum() for letter in name):
        name = "entrant"
    used = {skeleton(other) for other in taken}
    if skeleton(name) not in used:
        return name
    number = 2
    while skeleton(f"{name}{number}") in used:
        number += 1
    return f"{name} ({number})"


def _most_marks(name: str) -> int:
    most = run = 0
    for letter in unicodedata.normalize("NFD", name):
        run = run + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        most = max(most, run)
    return most
