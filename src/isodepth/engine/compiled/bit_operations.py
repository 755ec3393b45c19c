"""Operations on words of 64 bits, which the integers of a loop cannot express.

Words are int64 numbers, of which nothing but the bits counts. `plain_lanes` has the same operations
for numba.
"""

from __future__ import annotations

from typing import Any

from isodepth.engine.compiled.lite.kinds import Number
from isodepth.engine.compiled.lite.writer import Writer
from isodepth.engine.compiled.vector_lanes import Operation


def _count_bits(out: Writer, word: Any) -> Number:
    """How many bits of an int64 are set."""
    return Number("i64", out.call("llvm.ctpop.i64", "i64", ("i64", out.cast(word, "i64").text)))


def _byte_of_rank(out: Writer, word: Any, rank: Any) -> Number:
    """In which byte of an int64 the bit of a rank, counted from 0, lies, and its rank there.

    As 64 times the rank plus 8 times the byte. Products run over, and shifts fill up with zeros,
    which integers of a loop do not.
    """

    def every(byte: int) -> int:
        return byte * 0x0101010101010101

    def both(name: str, a: str, b: str | int) -> str:
        return out.set(f"{name} i64 {a}, {b}")

    number, wanted = out.cast(word, "i64").text, out.cast(rank, "i64").text
    pairs = both("sub", number, both("and", both("lshr", number, 1), every(0x55)))
    high = both("and", both("lshr", pairs, 2), every(0x33))
    fours = both("add", both("and", pairs, every(0x33)), high)
    eights = both("and", both("add", fours, both("lshr", fours, 4)), every(0x0F))
    # Byte i holds how many bits are set in bytes 0 to i.
    sums = both("mul", eights, every(1))
    # The top bit of each byte says whether all bits up to there come before.
    tops = both("or", both("mul", wanted, every(1)), every(0x80) - (1 << 64))
    before = both("and", both("sub", tops, sums), every(0x80) - (1 << 64))
    bytes_before = both("lshr", both("mul", both("lshr", before, 7), every(1)), 56)
    shift = both("shl", bytes_before, 3)
    known = both("and", both("lshr", both("shl", sums, 8), shift), 0xFF)
    left = both("shl", both("sub", wanted, known), 6)
    return Number("i64", both("or", left, shift))


count_bits = Operation(_count_bits, "count_bits")
byte_of_rank = Operation(_byte_of_rank, "byte_of_rank")
