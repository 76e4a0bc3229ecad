"""Detection, F1 and alarms of the engine, beside rapidfuzz's WRatio over the same candidates. Knows no costs."""

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

from rapidfuzz import fuzz

from bench.screening.labelled import Negative, Pair, mistreated, name_bench, negatives, un_pairs
from bench.screening.lists import Listed, names_of, read_lists
from bench.screening.results import Result, at_least, at_most, note
from stammdaten.screening.entries import PERSON, Entry, Name, written
from stammdaten.screening.matching import DEFAULT_THRESHOLD, Index, comparable, similarity
from stammdaten.screening.matching.folding import fold
from stammdaten.screening.parties import Party

_LOW = 0.3  # scores under it are of no interest to anybody
_PARTS = (("tuned", False), ("held out", True))


class _Scored(NamedTuple):
    score: float
    is_same: bool
    is_held_out: bool


def quality(data: Path) -> list[Result]:
    """Measure everything that labels can tell."""
    listed = read_lists(data)
    treated, un_treated = mistreated(data), un_pairs(data)
    results = [note("entries, names", f"{len(listed):,}, {sum(1 for _ in names_of(listed)):,}")]
    # Labelled names of lists that are not here would be misses of the data, not of the engine: they are added.
    whole = Index.of(listed + _absent(listed, [*treated, *un_treated]))
    persons = [pair for pair in treated if pair.kind == PERSON]
    others = [pair for pair in treated if pair.kind != PERSON]
    for title, pairs, target in (
        ("mistreated persons detected", persons, 0.992),
        ("mistreated organisations detected", others, 0.98),
        ("UN pairs detected", un_treated, 0.993),
    ):
        results += _detection(title, whole, pairs, target)
    results += _name_bench(name_bench(data))
    results += _alarms(Index.of(listed), negatives(data))
    return results + _wratio(whole, [*treated, *un_treated], name_bench(data), negatives(data))


def _absent(listed: Listed, pairs: list[Pair]) -> Listed:
    known = {_key(name) for name in names_of(listed)}
    names = {_key(pair.other): pair for pair in pairs}
    return [
        ("labelled", written(Entry(entry_id=str(number), names=(Name(pair.other),), kind=pair.kind)))
        for number, (key, pair) in enumerate(names.items())
        if key not in known
    ]


def _key(name: str) -> str:
    return " ".join(sorted(fold(name).split()))


def _share(found: list[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _detection(title: str, index: Index, pairs: list[Pair], target: float) -> list[Result]:
    asked = [(pair, Party(last_name=pair.name)) for pair in pairs]
    found = [(_detected(index, party, pair), pair.is_held_out) for pair, party in asked if comparable(party)]
    results = [at_least(title, _share([hit for hit, _ in found]), target)]
    results += [
        note(f"  {part}", f"{_share([hit for hit, held in found if held == is_held]):.4f}") for part, is_held in _PARTS
    ]
    results.append(note("  of; without information, not comparable", f"{len(found)}; {len(pairs) - len(found)}"))
    return results


def _detected(index: Index, party: Party, pair: Pair) -> bool:
    wanted = _key(pair.other)
    matches = index.matches(party, least=DEFAULT_THRESHOLD)
    return any(wanted in map(_key, _all_names(match.document)) for match in matches)


def _all_names(document: str) -> list[str]:
    return [name for name, _ in json.loads(document)["names"]]


def _f1(scored: list[_Scored], threshold: float) -> float:
    hits = sum(one.score >= threshold for one in scored if one.is_same)
    alarms = sum(one.score >= threshold for one in scored if not one.is_same)
    return 2 * hits / (sum(one.is_same for one in scored) + hits + alarms)


def _name_bench(pairs: list[Pair]) -> list[Result]:
    scored = [
        _Scored(similarity(pair.name, pair.other, kind=pair.kind)[0], pair.is_same, pair.is_held_out) for pair in pairs
    ]
    results = [at_least("name bench F1", _f1(scored, DEFAULT_THRESHOLD), 0.84)]
    for part, is_held in _PARTS:
        some = [one for one in scored if one.is_held_out == is_held]
        results.append(note(f"  {part}", f"{_f1(some, DEFAULT_THRESHOLD):.4f}"))
    return results


def _alarms(index: Index, people: list[Negative]) -> list[Result]:
    alarms = [(bool(index.matches(one.party, least=DEFAULT_THRESHOLD)), one.is_held_out) for one in people]
    results = [at_most("alarms on negatives", _share([alarm for alarm, _ in alarms]), 0.01)]
    results += [
        note(f"  {part}", f"{_share([alarm for alarm, held in alarms if held == is_held]):.4f}")
        for part, is_held in _PARTS
    ]
    without = [bool(index.matches(one.party._replace(country=""), least=DEFAULT_THRESHOLD)) for one in people[::5]]
    results.append(note("  without country (every fifth)", f"{_share(without):.4f}"))
    return results


def _wratio(index: Index, treated: list[Pair], bench: list[Pair], people: list[Negative]) -> list[Result]:
    """Give what plain WRatio reaches over the same candidates, at the threshold with its best F1."""
    scored = [
        _Scored(fuzz.WRatio(fold(pair.name), fold(pair.other)) / 100, pair.is_same, pair.is_held_out) for pair in bench
    ]
    best = max((threshold / 100 for threshold in range(50, 100)), key=lambda threshold: _f1(scored, threshold))
    began = process_time()
    highest = [max((score for _, score in _by_wratio(index, one.party.name)), default=0.0) for one in people[::5]]
    seconds = process_time() - began
    hits: Callable[[list[Pair]], list[bool]] = lambda pairs: [  # noqa: E731
        any(score >= best and _key(name) == _key(pair.other) for name, score in _by_wratio(index, pair.name))
        for pair in pairs
        if fold(pair.name)
    ]
    return [
        note("WRatio: its best threshold, F1", f"{best:.2f}, {_f1(scored, best):.4f}"),
        note("WRatio: mistreated and UN names detected", f"{_share(hits(treated)):.4f}"),
        note("WRatio: alarms (every fifth)", f"{_share([score >= best for score in highest]):.4f}"),
        note("WRatio: CPU ms a contact", f"{seconds / len(highest) * 1000:.2f}"),
    ]


def _by_wratio(index: Index, name: str) -> list[tuple[str, float]]:
    folded = fold(name)
    return [(other, fuzz.WRatio(folded, other) / 100) for other in index.resembling(folded)]
