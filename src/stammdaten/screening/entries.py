"""What a sanctions list says of one party, whichever list it is; knows no list format and no store."""

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any

from pydantic_core import to_json

PERSON = "person"
ORGANISATION = "organisation"
VESSEL = "vessel"
AIRCRAFT = "aircraft"
KINDS = (PERSON, ORGANISATION, VESSEL, AIRCRAFT)

# How sure the list is of a name. ORIGINAL is a strong name in the script its bearer writes it in.
STRONG = "strong"
WEAK = "weak"
ORIGINAL = "original"
QUALITIES = (STRONG, WEAK, ORIGINAL)


@dataclass(frozen=True, slots=True)
class Name:
    """A listed name, in the order in which it is spoken: `Nicolás Maduro Moros`, not `MADURO MOROS, Nicolás`."""

    text: str
    quality: str = STRONG


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One party on one list. What the list does not say is empty, never guessed.

    `entry_id` is the list's own and stays with the party from version to version. `nationalities` and `countries`
    (of residence, registration, flag) are ISO 3166-1 alpha-2; `birth_years` all years the list gives; an address is
    one line; `identifiers` are numbers of documents, registers, ships (IMO) and aircraft; `listed_on` is `YYYY-MM-DD`.
    """

    entry_id: str
    names: tuple[Name, ...]
    kind: str = ""
    gender: str = ""  # male, female
    birth_years: tuple[int, ...] = ()
    nationalities: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    listed_on: str = ""
    url: str = ""


_FIELDS = tuple(field.name for field in fields(Entry))


def written(entry: Entry) -> str:
    """Write an entry as JSON, without what is empty; the same entry is always the same text."""
    said = {name: value for name in _FIELDS if (value := getattr(entry, name))}
    said["names"] = [[name.text, name.quality] for name in entry.names]
    return to_json(said).decode()


def read_entry(document: str) -> Entry:
    """Read what `written` wrote."""
    said: dict[str, Any] = json.loads(document)
    names = tuple(Name(text, quality) for text, quality in said.pop("names"))
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    return Entry(names=names, **values)


def content_hash(document: str) -> str:
    """Return what tells whether an entry was changed: 128 bits of its text, in hexadecimal."""
    return hashlib.blake2b(document.encode(), digest_size=16).hexdigest()


def compared(entry: Entry) -> tuple[str, str, str, int]:
    """Return what versions are compared and stored by: entry id, content hash, document, number of names."""
    document = written(entry)
    return entry.entry_id, content_hash(document), document, len(entry.names)
