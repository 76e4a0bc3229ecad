"""What was measured against what was wanted, as a plain table. Knows not how anything is measured."""

from typing import NamedTuple


class Result(NamedTuple):
    """A line of the table; without a target it is told, not judged."""

    title: str
    reached: str
    wanted: str = ""
    is_met: bool = True


def at_least(title: str, reached: float, wanted: float) -> Result:
    """Judge a share that must be reached."""
    return Result(title, f"{reached:.4f}", f">= {wanted}", reached >= wanted)


def at_most(title: str, reached: float, wanted: float, unit: str = "") -> Result:
    """Judge a cost that must not be passed."""
    shown = f"{reached:.4f}" if wanted < 1 else f"{reached:.2f}"
    return Result(title, f"{shown} {unit}".strip(), f"<= {wanted} {unit}".strip(), reached <= wanted)


def note(title: str, reached: str) -> Result:
    """Tell something that has no target."""
    return Result(title, reached)


def show(heading: str, results: list[Result]) -> None:
    """Print a table."""
    print(f"\n{heading}")
    width = max(len(result.title) for result in results)
    for result in results:
        verdict = ("met" if result.is_met else "MISSED") if result.wanted else ""
        print(f"  {result.title:<{width}}  {result.reached:>16}  {result.wanted:>14}  {verdict}".rstrip())
