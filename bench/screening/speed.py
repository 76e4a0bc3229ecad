"""CPU time and memory of screening, alone and at scale, and of the reverse index. Knows no labels."""

import resource
from pathlib import Path
from random import Random
from time import process_time

from bench.screening.labelled import mistreated, negatives
from bench.screening.lists import Listed, extended, read_lists
from bench.screening.results import Result, at_most, note
from stammdaten.screening.matching import DEFAULT_THRESHOLD, Contacts, Index
from stammdaten.screening.parties import Party

_CONTACTS = 2_000
_MIB = 1024  # kibibytes
_REVERSE_CONTACTS = 100_000
_REVERSE_ENTRIES = 500


def speed(data: Path, names: int) -> list[Result]:
    """Measure loading, memory and a contact's check at the usual size."""
    listed = extended(read_lists(data), names)
    index, seconds = _loaded(listed)
    times = _checked(index, _contacts(data))
    return [
        note("names, entries", f"{index.names:,}, {index.entries:,}"),
        at_most("load, a 100,000 names", seconds / index.names * 100_000, 5, "s"),
        at_most("check of a contact, mean", sum(times) / len(times), 3, "ms"),
        at_most("check of a contact, p99", times[int(len(times) * 0.99)], 15, "ms"),
        note("check of a contact, median, slowest", f"{times[len(times) // 2]:.2f}, {times[-1]:.2f} ms"),
        at_most("memory of the whole process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB, 450, "MiB"),
    ]


def scale(data: Path, names: int) -> list[Result]:
    """Measure a contact's check with ten times the names."""
    index, seconds = _loaded(extended(read_lists(data), 10 * names))
    times = _checked(index, _contacts(data)[:1_000])
    return [
        note("names, entries", f"{index.names:,}, {index.entries:,}"),
        at_most("load, a 100,000 names", seconds / index.names * 100_000, 5, "s"),
        at_most("check of a contact, mean", sum(times) / len(times), 6, "ms"),
        note("check of a contact, p99", f"{times[int(len(times) * 0.99)]:.2f} ms"),
        note("memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB:.0f} MiB"),
    ]


def reverse(data: Path) -> list[Result]:
    """Measure changed entries against contacts."""
    listed = read_lists(data)
    index = Index.of(listed)
    changed = Random(7).sample(listed, _REVERSE_ENTRIES)
    began = process_time()
    contacts = Contacts.of(list(enumerate(address_book(data, _REVERSE_CONTACTS))), index)
    built = process_time() - began
    found = sum(len(contacts.alike(document, least=DEFAULT_THRESHOLD)) for _, document in changed)
    return [
        at_most(
            f"{_REVERSE_CONTACTS:,} contacts built, {_REVERSE_ENTRIES} entries asked", process_time() - began, 8, "s"
        ),
        note("  of it building", f"{built:.2f} s"),
        note("contacts found", f"{found:,}"),
    ]


def _loaded(listed: Listed) -> tuple[Index, float]:
    began = process_time()
    return Index.of(listed), process_time() - began


def _contacts(data: Path) -> list[Party]:
    """Return contacts as they come: most are nobody, some are listed names with errors."""
    parties = [one.party for one in negatives(data)] + [Party(last_name=pair.name) for pair in mistreated(data)]
    Random(7).shuffle(parties)
    return parties[:_CONTACTS]


def _checked(index: Index, parties: list[Party]) -> list[float]:
    """Return the milliseconds of each check, the shortest first."""
    times = []
    for party in parties:
        began = process_time()
        index.matches(party, least=DEFAULT_THRESHOLD)
        times.append((process_time() - began) * 1000)
    return sorted(times)


def address_book(data: Path, contacts: int) -> list[Party]:
    """Return so many persons who are on no list."""
    people = [one.party for one in negatives(data)]
    chance = Random(7)
    return [chance.choice(people)._replace(first_name=chance.choice(people).first_name) for _ in range(contacts)]
