"""Reference curves for stop gates: the recall that a fixed number of rounds, and an oracle, reach at the same cost.

fixed k      upper concave envelope of (k, mean recall after k rounds); a random mixture reaches the points between
oracle       best mean recall for the same total of rounds when every episode's gold passages are known
lift         recall − fixed k at the same mean rounds
gap closed   lift / (oracle − fixed k) there
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]


def upper_concave_hull(points: Sequence[Point]) -> list[Point]:
    """Return the upper concave envelope of points with rising x."""
    hull: list[Point] = []
    for x, y in points:
        while len(hull) >= 2 and _cross(hull[-2], hull[-1], (x, y)) >= 0:
            hull.pop()
        hull.append((x, y))
    return hull


def interpolate(envelope: Sequence[Point], x: float) -> float:
    """Return the height of the envelope at x. It is flat beyond its ends."""
    if x <= envelope[0][0]:
        return envelope[0][1]
    if x >= envelope[-1][0]:
        return max(y for _, y in envelope)
    right = bisect_right([point[0] for point in envelope], x)
    (x0, y0), (x1, y1) = envelope[right - 1], envelope[right]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def oracle_envelope(curves: Sequence[Sequence[float]]) -> list[Point]:
    """Return the frontier of an allocator that knows every curve: all take round 1, then the best rates of gain first."""
    rates: list[tuple[float, float]] = []
    for curve in curves:
        own = upper_concave_hull([(float(k), max(curve[:k])) for k in range(1, len(curve) + 1)])
        rates += [(x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in pairwise(own) if y1 > y0]
    rates.sort(key=lambda step: -step[1] / step[0])
    x, y = 1.0, sum(curve[0] for curve in curves) / len(curves)
    points = [(x, y)]
    for cost, gain in rates:
        x, y = x + cost / len(curves), y + gain / len(curves)
        points.append((x, y))
    return points


def _cross(a: Point, b: Point, c: Point) -> float:
    """Return the cross product of a→b and a→c; positive when b lies below the line from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
