"""Where means of small order are taken in another way; this goes into compiled code as well."""

from __future__ import annotations

#: Below this power means are taken through logarithms; above, a direct sum is right to 1e-13.
SMALL_POWER = 1e-3
#: Below this power a mean is the geometric one: they differ by p/2 times a variance of logarithms,
#: which is below a million.
GEOMETRIC_POWER = 1e-100
#: Quotients below this have lost digits.
TINIEST = 1e-300
