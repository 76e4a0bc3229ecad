"""Every way in which the service says no; knows no HTTP status and no body (`http/refusing.py` does).

Refusal
├── Malformed           the body is not JSON as the service reads it
├── Invalid             fields or parameters are wrong; carries one Fault each
├── Unauthenticated     no good token
├── NotAllowed          a good token, but not for this
├── NotFound            no such thing, or not here
├── AlreadyExists       the number or uid is in use
├── TooLarge            the body is over the limit
└── Unavailable         the database is away; try again
    └── OutcomeUnknown  … and it went away during the commit
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple


class Fault(NamedTuple):
    """One wrong field: its path, e.g. `product.vendor`, and what is allowed, e.g. `must be a String`."""

    path: str
    sentence: str


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error of the service
    """The request cannot be done; `str()` of it is the sentence for the caller."""


class Malformed(Refusal):
    """The body cannot be read."""


class Invalid(Refusal):
    """Fields or parameters are wrong."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{path} {sentence}" for path, sentence in faults))


class Unauthenticated(Refusal):
    """The token is missing, malformed, unknown, expired or revoked: which, is not told."""


class NotAllowed(Refusal):
    """The caller may not do this."""


class NotFound(Refusal):
    """There is no such thing in the caller's instance."""


class AlreadyExists(Refusal):
    """Another one has this number or uid."""


class TooLarge(Refusal):
    """The body is over the limit."""


class Unavailable(Refusal):
    """The database cannot be reached now; nothing was changed."""


class OutcomeUnknown(Unavailable):
    """The database went away during the commit: the change may or may not stand."""


_LONGEST_NAME = 255


def check_name(path: str, given: str) -> None:
    """Refuse what cannot be shown as the name of a thing that operators make.

    :raises Invalid: if it is blank, over 255 characters or holds control characters.
    """
    if not given.strip() or len(given) > _LONGEST_NAME or any(map(_is_unprintable, given)):
        raise Invalid([Fault(path, f"must be 1 to {_LONGEST_NAME} characters, no control characters among them")])


def _is_unprintable(character: str) -> bool:
    # Controls, and the lone surrogates that Python makes of arguments that are no UTF-8.
    return unicodedata.category(character) in {"Cc", "Cs"}
