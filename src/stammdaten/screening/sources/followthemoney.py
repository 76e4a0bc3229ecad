"""FollowTheMoney, the model of OpenSanctions: what its properties say of a party; knows no file and no server."""

from collections.abc import Callable, Iterable

from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, VESSEL, WEAK
from stammdaten.screening.sources.drafts import Draft

KINDS = {
    "Person": PERSON,
    "Organization": ORGANISATION,
    "Company": ORGANISATION,
    "PublicBody": ORGANISATION,
    "LegalEntity": "",  # a party of which is not known whether it is a person
    "Vessel": VESSEL,
    "Airplane": AIRCRAFT,
}
_STRONG_NAMES = ("name", "alias", "previousName")
_WEAK_NAMES = ("weakAlias", "abbreviation")
_NATIONALITIES = ("nationality", "citizenship")
_COUNTRIES = ("country", "jurisdiction", "flag", "mainCountry")
_NUMBERS = (
    "passportNumber",
    "idNumber",
    "registrationNumber",
    "taxNumber",
    "vatCode",
    "innCode",
    "ogrnCode",
    "okpoCode",
    "kppCode",
    "leiCode",
    "dunsCode",
    "uscCode",
    "swiftBic",
    "uniqueEntityId",
    "socialSecurityNumber",
    "imoNumber",
    "mmsi",
    "callSign",
    "serialNumber",
)


def describe(draft: Draft, values: Callable[..., Iterable[str]]) -> None:
    """Put into a draft what properties say; `values` takes names of properties and returns their values."""
    draft.add_names(*values(*_STRONG_NAMES))
    draft.add_names(*values(*_WEAK_NAMES), quality=WEAK)
    for gender in values("gender"):
        draft.set_gender(gender)
    draft.add_birth_dates(*values("birthDate"))
    # There are codes for parts of countries, `gb-sct`.
    draft.add_nationalities(*(code.partition("-")[0] for code in values(*_NATIONALITIES)))
    draft.add_countries(*(code.partition("-")[0] for code in values(*_COUNTRIES)))
    for address in values("address"):
        draft.add_address(address)
    draft.add_identifiers(*values(*_NUMBERS))
    draft.add_programs(*values("programId", "program"))
