"""The rounds: every variant once, then every variant again, so that a slow minute hits all alike."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from bench.load import Measured


@dataclass(frozen=True)
class Variant:
    """Something to measure: how, for some seconds, with a seed."""

    group: str
    name: str
    measure: Callable[[float, int], Measured]


class Results:
    """What each variant of each group took in each round."""

    def __init__(self) -> None:
        self._measured: dict[tuple[str, str], list[Measured]] = {}

    def add(self, variant: Variant, measured: Measured) -> None:
        """Keep what a round measured."""
        self._measured.setdefault((variant.group, variant.name), []).append(measured)

    def names(self, group: str) -> list[str]:
        """Return the variants of a group in the order in which they ran."""
        return [name for of, name in self._measured if of == group]

    def middle(self, group: str, name: str) -> Measured:
        """Return the median of each value over the rounds."""
        rounds = self._measured[group, name]
        return Measured(
            **{field.name: median(getattr(one, field.name) for one in rounds) for field in fields(Measured)}
        )

    def ratio(self, group: str, value: Callable[[Measured], float], over: str, *under: str) -> float | None:
        """Return the median of the rounds' `over` divided by the sum of `under`; None if one is missing.

        Round by round, because what ran within a minute is comparable and what ran within ten is not.
        """
        if not all((group, name) in self._measured for name in (over, *under)):
            return None
        rounds = zip(
            self._measured[group, over],
            *(self._measured[group, name] for name in under),
            strict=True,
        )
        return median(value(first) / sum(map(value, others)) for first, *others in rounds)


def run_rounds(
    variants: Sequence[Variant],
    *,
    rounds: int,
    seconds: float,
    between: Callable[[], None],
) -> Results:
    """Measure all variants in each round, after a second of warming up; `between` runs before each round."""
    for variant in variants:
        variant.measure(1, 0)
    results = Results()
    for number in range(1, rounds + 1):
        between()
        for variant in variants:
            measured = variant.measure(seconds, number)
            results.add(variant, measured)
            say(
                f"round {number}/{rounds}  {variant.group:7} {variant.name:45} {measured.rate:9.0f}/s "
                f"CPU/1k {measured.application_cpu:.3f} + {measured.database_cpu:.3f}  "
                f"other {measured.other_load:.2f}"
            )
    return results


def say(line: str) -> None:
    """Tell the person who waits what is going on."""
    sys.stderr.write(f"{line}\n")
