"""What is screened, and what a check says; values without store or clock."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from stammdaten.screening.matching import Match
from stammdaten.screening.parties import Party
from stammdaten.screening.queries import Rules, Standing

BLOCK_LIST = "block-list"
RESCREEN_DUE = "screen contacts that are due"
OPEN, CONFIRMED, REJECTED = "open", "confirmed", "rejected"
DECISIONS = (OPEN, CONFIRMED, REJECTED)


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom to check: a contact's uid and identifying data, and the entries (source, entry id) it is held to be."""

    contact_uid: str
    party: Party
    confirmed: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was found of a subject. `failed` says why it could not be checked.

    A check that was not made leaves the contact unchecked; one that follows has to be asked for.
    """

    subject: Subject
    standing: Standing
    rules: Rules = field(default_factory=Rules)
    lists: tuple[dict[str, Any], ...] = ()  # name, version, entries
    engine: str = ""
    found: tuple[Match, ...] = ()
    left_out: int = 0  # further matches, all with lower scores; a contact that has some is never green
    blocked: frozenset[tuple[str, str]] = frozenset()  # entries of the block list by name or uid to the letter
    failed: str = ""
    are_lists_too_old: bool = False  # failed for this reason alone
    is_made: bool = True
    follows: bool = False


def party_hash(party: Party) -> str:
    """Return what tells whether identifying data were changed."""
    return hashlib.blake2b(json.dumps(party, ensure_ascii=True).encode(), digest_size=16).hexdigest()
