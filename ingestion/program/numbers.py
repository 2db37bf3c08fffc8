"""Turning text into numbers, many at a time: to the last bit what `float()` gives for each token alone.

numpy's own readers convert one token after another and hold the interpreter meanwhile. Here each step is one
operation over all tokens of a piece of text: threads can share the work, and eight digits are converted at once.
Most numbers have at most 19 digits and a small exponent, and these come out exact:

- below 2**53, digits and power of ten are exact floats, and one division or product is rounded once (W. D.
  Clinger, How to read floating point numbers accurately, 1990);
- else the same with 64 bits of precision, unless what comes out lies exactly between two floats.

Whatever is written otherwise goes through `float()`. Nothing newer than Python 3.9 and numpy 1.22 is used here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_BEFORE, _AFTER = 16, 8  # blanks around a piece, so that eight bytes before any token can be read
_SPACE, _PLUS, _MINUS, _DOT, _COLON = (np.uint8(ord(character)) for character in " +-.:")
_FIRST_CONTROL_SPACE, _CONTROL_SPACES = np.uint8(9), np.uint8(5)  # tab, newline, \v, form feed, carriage return
_ZERO, _LOWER_CASE = np.uint8(48), np.uint8(32)
_FAR = 1000  # bytes between letters above which finding each of them is quicker than looking at all bytes

_U = np.uint64
_ZEROS = _U(0x3030303030303030)  # eight times the digit 0
_ABOVE_NINE = _U(0x7676767676767676)  # added to eight values of one byte: those above 9 reach the highest bit
_HIGHEST_BITS = _U(0x8080808080808080)
# Eight digits at once: pairs, then fours, then eight (D. Lemire, Number parsing at a gigabyte per second, 2021).
_PAIRS, _FOURS, _EIGHTS = _U(0x000000FF000000FF), _U(0x000F424000000064), _U(0x0000271000000001)
_ONE, _THREE, _BYTE, _NINE, _TEN, _TWO_BYTES, _FOUR_BYTES, _WORD = (_U(n) for n in (1, 3, 8, 9, 10, 16, 32, 64))
_IN_WORD = _U(63)
_SIGN = _U(2**63)  # the bit of a float that says that it is negative

_POWERS_OF_TEN = np.array([10**power for power in range(20)], dtype=np.uint64)
_EXACT_POWERS = np.array([float(10**power) for power in range(23)])
_EXACT_INTEGERS = _U(2**53)
_MOST_DIGITS = 19  # 10**19 is below 2**64
_LARGEST = 9.9e18  # below 10**19 by more than the error of the sum that is compared with it
_DIGITS_READ = 24
_MOST_THIRD = _U(999)  # of what stands before the last 16 digits, so that all of them are below 10**19

# The 80-bit numbers of x86 hold any uint64, and powers of ten up to 27.
_HAS_64_BITS = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16
_LONG_POWERS = np.cumprod(np.array([1] + [10] * 27, dtype=np.longdouble))
_BELOW_A_FLOAT, _MIDDLE = _U(0x7FF), _U(0x400)  # the 11 bits that a float does not keep; exactly half of them


class Numbers(NamedTuple):
    """What stands in a piece of text: values (float64), and how many of them stand before each newline.

    `indices` (int64) are those before the colons, or all there is where indices stand alone.
    """

    values: Any
    newlines: Any
    indices: Any = None


class _Tokens(NamedTuple):
    """Positions (uint64) in the padded piece where tokens start and end, and where their dots are.

    `owners` says to which token each dot belongs; it is None where each token has one, in order.
    """

    starts: Any
    ends: Any
    dots: Any
    owners: Any


class Converter:
    """Converts pieces of text, one after another; one for each thread.

    It keeps its working memory: the system takes longer to hand out fresh pages than the work in them takes.
    """

    def __init__(self) -> None:
        self._rooms: dict[str, Any] = {}
        self._piece = b""
        self._raw = self._words = np.empty(0)
        self._colons = 0

    def dense(self, piece: bytes) -> Numbers | None:
        """Numbers between blanks; None where one of the tokens is no number."""
        tokens = self._tokens(*self._cut(piece, colons=False))
        values = self._floats(tokens)
        return None if values is None else Numbers(values, self._newlines(tokens.starts))

    def sparse(self, piece: bytes) -> Numbers | None:
        """`index:value` entries; None where anything is written otherwise than in the common way."""
        starts, ends, dots, owners = self._cut(piece, colons=True)
        if starts.size % 2 or 2 * self._colons != starts.size:
            return None
        # The byte behind each index is its colon, and the value begins right behind that.
        if not bool((self._raw.take(ends[0::2]) == _COLON).all() and (starts[1::2] == ends[0::2] + 1).all()):
            return None
        if owners is None or not bool((owners & 1).all()):
            if dots.size:
                return None  # a dot in an index
            owners = dots
        tokens = self._tokens(starts[0::2], ends[0::2], dots, owners)
        newlines = self._newlines(tokens.starts)
        indices = self._indices(tokens)
        if indices is None:
            return None
        values = self._floats(self._tokens(starts[1::2], ends[1::2], dots, owners >> 1))
        return None if values is None else Numbers(values, newlines, indices)

    def sparse_binary(self, piece: bytes) -> Numbers | None:
        """Indices alone, each with the value 1; None as above."""
        tokens = self._tokens(*self._cut(piece, colons=False))
        indices = self._indices(tokens)
        return None if indices is None else Numbers(np.ones(indices.size), self._newlines(tokens.starts), indices)

    # Cutting ------------------------------------------------------------------------------------------------

    def _room(self, name: str, size: int, kind: Any = np.uint64) -> Any:
        """Working memory of this name, with whatever was left in it."""
        room = self._rooms.get(name)
        if room is None or room.size < size:
            room = self._rooms[name] = np.empty(size + size // 4, dtype=kind)
        return room[:size]

    def _marks(self, piece: bytes, *, colons: bool) -> Any:
        """For each byte of the padded piece whether a token starts there or has ended right before.

        Blanks are those of `bytes.split`; colons separate too where they are asked for.
        """
        size = _BEFORE + len(piece) + _AFTER + -len(piece) % 8
        raw = self._room("raw", size, np.uint8)
        raw[:_BEFORE] = _SPACE
        raw[_BEFORE : _BEFORE + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        raw[_BEFORE + len(piece) :] = _SPACE
        self._piece, self._raw, self._words = piece, raw, raw.view("<u8")
        is_space, marks = self._room("is space", size, bool), self._room("marks", size, bool)
        np.subtract(raw, _FIRST_CONTROL_SPACE, out=marks.view(np.uint8))
        np.less(marks.view(np.uint8), _CONTROL_SPACES, out=is_space)
        is_space |= np.equal(raw, _SPACE, out=marks)
        if colons:
            is_space |= np.equal(raw, _COLON, out=marks)
            self._colons = int(np.count_nonzero(marks))
        marks[0] = False
        np.not_equal(is_space[1:], is_space[:-1], out=marks[1:])
        return marks

    def _cut(self, piece: bytes, *, colons: bool) -> tuple[Any, Any, Any, Any]:
        """Where tokens start, where they end, their dots, and the token of each dot as in `_Tokens`."""
        marks = self._marks(piece, colons=colons)
        if b"." not in piece:
            edges = np.flatnonzero(marks)
            return edges[0::2], edges[1::2], edges[:0], edges[:0]
        # Looking for edges and dots at once takes half the time, and the looking is much of the whole.
        is_dot = np.equal(self._raw, _DOT, out=self._room("is dot", marks.size, bool))
        found = np.flatnonzero(np.logical_or(marks, is_dot, out=self._room("either", marks.size, bool)))
        edge_count, dot_count = int(np.count_nonzero(marks)), int(np.count_nonzero(is_dot))
        is_regular = not colons and found.size == 3 * dot_count and edge_count == 2 * dot_count
        if is_regular and bool((self._raw.take(found[1::3]) == _DOT).all()):
            return found[0::3], found[2::3], found[1::3], None
        if found.size != edge_count + dot_count:  # one of the tokens begins with its dot
            both, places = np.flatnonzero(marks), np.flatnonzero(is_dot)
            return both[0::2], both[1::2], places, (np.searchsorted(both, places, side="right") - 1) >> 1
        here = is_dot.take(found)
        places = np.flatnonzero(here)
        both = found[~here]
        owners = (places - np.arange(1, dot_count + 1)) >> 1  # half the edges before each dot
        return both[0::2], both[1::2], found[places], owners

    def _tokens(self, starts: Any, ends: Any, dots: Any, owners: Any) -> _Tokens:
        tokens = _Tokens(self._room("starts", starts.size), self._room("ends", starts.size), dots, owners)
        tokens.starts[:] = starts
        tokens.ends[:] = ends
        return tokens

    def _newlines(self, starts: Any) -> Any:
        """How many of the starts lie before each newline."""
        return np.searchsorted(starts, self._places(b"\n"))

    def _places(self, *letters: bytes) -> Any:
        """Positions (uint64) of these bytes in the padded piece."""
        few: list[int] = []
        for letter in letters:
            place = self._piece.find(letter)
            while place >= 0 and len(few) * _FAR <= len(self._piece):
                few.append(place + _BEFORE)
                place = self._piece.find(letter, place + 1)
            if place >= 0:
                break
        else:
            return np.array(sorted(few), dtype=np.uint64)
        found = np.equal(self._raw, letters[0][0], out=self._room("marks", self._raw.size, bool))
        for letter in letters[1:]:
            found |= np.equal(self._raw, letter[0], out=self._room("either", self._raw.size, bool))
        return np.flatnonzero(found).astype(np.uint64, copy=False)

    # Converting ---------------------------------------------------------------------------------------------

    def _indices(self, tokens: _Tokens) -> Any | None:
        """The tokens as whole numbers (int64) of up to eight digits; None where one is written otherwise."""
        count = tokens.starts.size
        lengths, strange = self._room("lengths", count), self._cleared("strange", count)
        np.subtract(tokens.ends, tokens.starts, out=lengths)
        if count and int(lengths.max()) > 8:
            return None
        numbers = np.empty(count, dtype=np.uint64)
        self._digits(tokens.ends, lengths, numbers, strange)
        return None if bool(strange.any()) else _signed(numbers)

    def _floats(self, tokens: _Tokens) -> Any | None:
        """The tokens as float64, NaN and infinities included; None where one of them is no number."""
        count = tokens.starts.size
        if not count:
            return np.empty(0)
        starts, strange = self._room("bodies", count), self._cleared("strange", count)
        first = self._raw.take(_signed(tokens.starts), out=self._room("first", count, np.uint8), mode="clip")
        is_negative = np.equal(first, _MINUS, out=self._room("is negative", count, bool))
        is_signed = np.equal(first, _PLUS, out=self._room("is signed", count, bool))
        np.add(tokens.starts, np.logical_or(is_signed, is_negative, out=is_signed), out=starts, casting="unsafe")
        ends, powers = self._exponents(tokens, strange)
        digits, decimals = self._all_digits(tokens, starts, ends, strange)
        values = self._scaled(digits, decimals, powers, strange)
        signs = np.multiply(is_negative, _SIGN, out=self._room("places", count), casting="unsafe")
        values.view(np.uint64)[:] |= signs
        return self._with_others(tokens, values, np.flatnonzero(strange))

    def _cleared(self, name: str, count: int) -> Any:
        room = self._room(name, count)
        room.fill(0)
        return room

    def _exponents(self, tokens: _Tokens, strange: Any) -> tuple[Any, Any | None]:
        """(where the digits of each token end, its power of ten as int64, or None where no token has one)."""
        places = self._places(b"e", b"E")
        if not places.size:
            return tokens.ends, None
        count = tokens.ends.size
        powers = _signed(self._cleared("exponents", count))
        if places.size == count and bool(((tokens.starts <= places) & (places < tokens.ends)).all()):
            ends, rows = places, slice(None)
        else:
            # Where there is more than one in a token, the last one counts; others turn out to be no digits.
            owners = np.searchsorted(tokens.starts, places, side="right") - 1
            inside = (owners >= 0) & (places < tokens.ends.take(owners, mode="clip"))
            rows = owners[inside]
            ends = self._room("mantissa ends", count)
            ends[:] = tokens.ends
            ends[rows] = places[inside]
        behind, marks = tokens.ends[rows], ends[rows]
        signs = self._raw.take(_signed(marks) + 1)
        lengths = _signed(behind - marks) - 1 - ((signs == _MINUS) | (signs == _PLUS))
        numbers, wrong = self._room("exponent", behind.size), self._cleared("wrong", behind.size)
        self._digits(behind, np.clip(lengths, 0, 8).view(np.uint64), numbers, wrong)
        strange[rows] |= wrong | ((lengths < 1) | (lengths > 8))
        np.negative(_signed(numbers), out=_signed(numbers), where=signs == _MINUS)
        powers[rows] = _signed(numbers)
        return ends, powers

    def _all_digits(self, tokens: _Tokens, starts: Any, ends: Any, strange: Any) -> tuple[Any, Any | None]:
        """(all digits of each token as one number, how many of them stand behind a dot, or None without dots)."""
        count = starts.size
        lengths, whole = self._room("lengths", count), self._room("whole", count)
        if not tokens.dots.size:
            np.subtract(ends, starts, out=lengths)
            strange |= _signed(lengths) < 1
            self._long_digits(ends, lengths, whole, strange)
            return whole, None
        dots, decimals = self._room("dots", count), self._room("decimals", count)
        fraction = self._room("fraction", count)
        if tokens.owners is None:
            np.minimum(_signed(ends), tokens.dots, out=_signed(dots))
        else:
            dots[:] = ends
            _signed(dots)[tokens.owners] = np.minimum(_signed(ends)[tokens.owners], tokens.dots)
        np.subtract(dots, starts, out=lengths)
        if bool((_signed(lengths) < 0).any()):  # a sign alone before an exponent
            strange |= _signed(lengths) < 0
            np.maximum(_signed(lengths), 0, out=_signed(lengths))
        self._long_digits(dots, lengths, whole, strange)
        np.subtract(ends, dots, out=decimals)
        decimals -= decimals > 0
        self._long_digits(ends, decimals, fraction, strange)
        lengths += decimals
        strange |= lengths == 0
        scale = self._room("scale", count)
        _POWERS_OF_TEN.take(_signed(decimals), out=scale, mode="clip")
        if int(lengths.max()) > _MOST_DIGITS:
            rows = np.flatnonzero(lengths > _U(_MOST_DIGITS))
            powers = _EXACT_POWERS.take(_signed(decimals[rows]), mode="clip")
            strange[rows] |= whole[rows] * powers + fraction[rows] > _LARGEST
        whole *= scale
        whole += fraction
        return whole, decimals

    def _long_digits(self, ends: Any, lengths: Any, numbers: Any, strange: Any) -> None:
        """As `_digits`, for up to 24 digits, as long as the number is below 10**19."""
        longest = int(lengths.max())
        if longest <= 8:
            read = self._single_digits if longest <= 1 else self._digits
            read(ends, lengths, numbers, strange)
            return
        count = ends.size
        rest = np.minimum(lengths, _BYTE, out=self._room("rest", count))
        self._digits(ends, rest, numbers, strange)
        for done in (_BYTE, _TWO_BYTES):
            if longest <= done:
                break
            is_longer = lengths > done
            if 2 * int(np.count_nonzero(is_longer)) > count:
                # Of those that are shorter, no digits are read: that costs less than leaving them out.
                rows: Any = slice(None)
                behind, rest = self._room("behind", count), self._room("rest", count)
                np.subtract(ends, done, out=behind)
                np.maximum(lengths, done, out=rest)
                rest -= done
            else:
                rows = np.flatnonzero(is_longer)
                behind, rest = ends[rows] - done, lengths[rows] - done
            np.minimum(rest, _BYTE, out=rest)
            higher, wrong = self._room("higher", rest.size), self._cleared("wrong", rest.size)
            self._digits(behind, rest, higher, wrong)
            if done == _TWO_BYTES:
                wrong |= higher > _MOST_THIRD
            higher *= _POWERS_OF_TEN[int(done)]
            numbers[rows] += higher
            strange[rows] |= wrong
        if longest > _DIGITS_READ:
            strange |= lengths > _U(_DIGITS_READ)

    def _single_digits(self, ends: Any, lengths: Any, numbers: Any, strange: Any) -> None:
        """As `_digits`, for lengths of 0 and 1: what stands before the dot is often one digit."""
        places = np.subtract(ends, _ONE, out=self._room("places", ends.size))
        digits = self._raw.take(_signed(places), out=self._room("first", ends.size, np.uint8), mode="clip")
        digits ^= _ZERO
        np.multiply(digits, lengths, out=numbers)
        strange |= numbers > _NINE

    def _digits(self, ends: Any, lengths: Any, numbers: Any, strange: Any) -> None:
        """Put the numbers of `lengths` digits (at most eight) before `ends` into `numbers`.

        `strange` gets bits where something else than a digit stands there.
        """
        places, shifts = self._room("places", ends.size), self._room("shifts", ends.size)
        np.right_shift(ends, _THREE, out=places)
        np.left_shift(ends, _THREE, out=shifts)
        shifts &= _IN_WORD
        self._words.take(_signed(places), out=numbers, mode="clip")
        places -= _ONE
        lower = self._words.take(_signed(places), out=self._room("lower word", ends.size), mode="clip")
        lower >>= shifts
        numbers <<= np.subtract(_WORD, shifts, out=shifts)  # by 64 gives 0
        numbers |= lower
        numbers ^= _ZEROS
        np.left_shift(lengths, _THREE, out=shifts)
        np.subtract(_WORD, shifts, out=shifts)
        numbers >>= shifts
        numbers <<= shifts
        np.add(numbers, _ABOVE_NINE, out=lower)
        lower |= numbers
        lower &= _HIGHEST_BITS
        strange |= lower
        pairs = np.multiply(numbers, _TEN, out=lower)
        numbers >>= _BYTE
        pairs += numbers
        np.right_shift(pairs, _TWO_BYTES, out=numbers)
        numbers &= _PAIRS
        numbers *= _EIGHTS
        pairs &= _PAIRS
        pairs *= _FOURS
        numbers += pairs
        numbers >>= _FOUR_BYTES

    def _scaled(self, digits: Any, decimals: Any | None, powers: Any | None, strange: Any) -> Any:
        """The digits times their power of ten; where the last bit is in doubt, `strange` is set."""
        if powers is None:
            # A whole number is rounded once as it is.
            return digits.astype(np.float64) if decimals is None else self._with_dots(digits, decimals, strange)
        if decimals is not None:
            powers -= _signed(decimals)
        rows = np.flatnonzero(powers > 0)
        decimals = np.maximum(-powers, 0).view(np.uint64)
        values = self._with_dots(digits, decimals, strange)
        if rows.size:
            values[rows], doubtful = _times_powers(digits[rows], powers[rows])
            strange[rows] |= doubtful
        return values

    def _with_dots(self, digits: Any, decimals: Any, strange: Any) -> Any:
        """The digits with their dots put in; where the last bit is in doubt, `strange` is set."""
        rows = np.empty(0, dtype=np.int64)
        if int(digits.max()) >= int(_EXACT_INTEGERS) or int(decimals.max()) >= _EXACT_POWERS.size:
            is_hard = digits >= _EXACT_INTEGERS
            is_hard |= decimals >= _U(_EXACT_POWERS.size)
            if 2 * int(np.count_nonzero(is_hard)) > digits.size:
                values, doubtful = self._divided(digits, decimals)
                strange |= doubtful
                return values
            rows = np.flatnonzero(is_hard)
        values = digits.astype(np.float64)
        room = self._room("powers", digits.size, np.float64)
        values /= _EXACT_POWERS.take(_signed(decimals), out=room, mode="clip")
        if rows.size:
            values[rows], doubtful = self._divided(digits[rows], decimals[rows])
            strange[rows] |= doubtful
        return values

    def _divided(self, digits: Any, decimals: Any) -> tuple[Any, Any]:
        """(digits with their dots put in, whether the last bit is in doubt), by numbers of 64 bits."""
        exact, powers = (self._room(name, digits.size, np.longdouble) for name in ("exact", "long powers"))
        exact[:] = digits
        exact /= _LONG_POWERS.take(_signed(decimals), out=powers, mode="clip")
        return _rounded(exact, decimals >= _U(_LONG_POWERS.size))

    def _with_others(self, tokens: _Tokens, values: Any, rows: Any) -> Any | None:
        """The values with those of `rows` read one by one; None where one of them is no number."""
        if not rows.size:
            return values
        starts, ends = _signed(tokens.starts[rows]), _signed(tokens.ends[rows])
        is_missing = ends - starts == 3
        for place, letter in enumerate(b"nan"):
            is_missing &= (self._raw.take(starts + place) | _LOWER_CASE) == letter
        values[rows[is_missing]] = np.nan
        rest = ~is_missing
        begins, lengths = (starts[rest] - _BEFORE).tolist(), (ends[rest] - starts[rest]).tolist()
        for row, begin, length in zip(rows[rest].tolist(), begins, lengths):  # noqa: B905  # strict= is Python 3.10
            token = self._piece[begin : begin + length]
            if not is_number(token):
                return None
            values[row] = float(token)
        return values


def _signed(numbers: Any) -> Any:
    """The same memory as signed numbers."""
    return numbers.view(np.int64)


def _times_powers(digits: Any, powers: Any) -> tuple[Any, Any]:
    """(digits times ten to the power, whether the last bit is in doubt)."""
    largest = _EXACT_POWERS.size - 1
    values = digits.astype(np.float64)
    values /= _EXACT_POWERS.take(-powers, mode="clip")
    values *= _EXACT_POWERS.take(powers, mode="clip")
    rows = np.flatnonzero((digits >= _EXACT_INTEGERS) | (np.abs(powers) > largest))
    doubtful = np.zeros(digits.size, dtype=bool)
    if rows.size:
        exact = digits[rows].astype(np.longdouble)
        exact /= _LONG_POWERS.take(-powers[rows], mode="clip")
        exact *= _LONG_POWERS.take(powers[rows], mode="clip")
        values[rows], doubtful[rows] = _rounded(exact, np.abs(powers[rows]) >= _LONG_POWERS.size)
    return values, doubtful


def _rounded(exact: Any, doubtful: Any) -> tuple[Any, Any]:
    """(numbers of 64 bits as float64, whether the last bit is in doubt)."""
    if not _HAS_64_BITS:
        return exact.astype(np.float64), np.ones(exact.size, dtype=bool)
    # Rounded to 64 bits and then to 53, a number is rounded right unless the first step ends between two floats.
    mantissas = exact.view(np.uint64)[0::2]
    return exact.astype(np.float64), doubtful | ((mantissas & _BELOW_A_FLOAT) == _MIDDLE)


def is_number(token: bytes) -> bool:
    """Whether the token is one number as data files may hold them (NaN and infinities included)."""
    try:
        float(token)
    except ValueError:
        return False
    return b"_" not in token
