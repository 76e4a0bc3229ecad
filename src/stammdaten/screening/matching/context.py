"""What a contact's other data says of a likeness of names: country, gender, address, kind. Knows no names, no lists."""

from typing import Any, NamedTuple

from stammdaten.screening.countries import country_code
from stammdaten.screening.entries import ORGANISATION, PERSON
from stammdaten.screening.matching.folding import fold
from stammdaten.screening.matching.parsing import Parsed
from stammdaten.screening.parties import Party

DEFAULT_THRESHOLD = 0.79  # from here on a person must look at a match
CERTAIN = 0.93  # from here on it is as good as certain: a full name of enough information, written almost the same

_COUNTRY_AGREES = 0.2  # of what is missing to 1
_CITY_AGREES = 0.1
_COUNTRY_DIFFERS = -0.04  # little: people live elsewhere than they were born, companies are registered elsewhere
_GENDER_DIFFERS = -0.1
_KIND_DIFFERS = -0.12


class Known(NamedTuple):
    """What is known of the party beside its name."""

    kind: str
    gender: str
    country: str
    city: str
    street: str


def known(party: Party, name: Parsed) -> Known:
    """Read what a contact says: who has a first name or a gender is a person, who has a legal form is none."""
    is_person = bool(party.first_name.strip() or party.gender)
    kind = PERSON if is_person else ORGANISATION if name.forms else ""
    country = country_code(party.country) if party.country else ""
    return Known(kind, party.gender, country, fold(party.city), fold(party.street))


def weighed(
    score: float, features: dict[str, float], about: Known, said: dict[str, Any], *, same: bool
) -> tuple[float, dict[str, float]]:
    """Return the score with what the other data adds or takes, and the features with it.

    A poor name is never lifted over the threshold, and a name that is the same never put under it: what else is known
    of a party may be old or wrong, and a missed party is worse than one looked at in vain.
    """
    raised = lowered = 0.0
    told = dict(features)
    for name, value in _told(about, said).items():
        if value > 0:
            change = value * (1.0 - score) if score >= DEFAULT_THRESHOLD else 0.0
            raised += change
        else:
            change = value
            lowered += value
        if change:
            told[name] = change
    total = score + raised + lowered
    if same and total < DEFAULT_THRESHOLD:
        told["same name"] = DEFAULT_THRESHOLD - total
        total = DEFAULT_THRESHOLD
    total = round(max(0.0, min(1.0, total)), 4)
    return total, {name: round(value, 4) for name, value in told.items() if round(value, 4)}


def could_reach(score: float, least: float) -> bool:
    """Return whether a likeness of names may come to `least` with everything else in its favour."""
    if score < DEFAULT_THRESHOLD:
        return score >= least
    return score + (_COUNTRY_AGREES + _CITY_AGREES) * (1.0 - score) >= least


def _told(about: Known, said: dict[str, Any]) -> dict[str, float]:
    told: dict[str, float] = {}
    kind = said.get("kind", "")
    if about.kind and kind and about.kind != kind:
        told["kind"] = _KIND_DIFFERS
    gender = said.get("gender", "")
    if about.gender in {"male", "female"} and gender and gender != about.gender:
        told["gender"] = _GENDER_DIFFERS
    countries = {*said.get("nationalities", ()), *said.get("countries", ())}
    if about.country and countries:
        told["country"] = _COUNTRY_AGREES if about.country in countries else _COUNTRY_DIFFERS
    if about.city and any(_within(about.city, address) for address in said.get("addresses", ())):
        told["city"] = _CITY_AGREES
    return told


def _within(words: str, address: str) -> bool:
    return f" {words} " in f" {fold(address)} "
