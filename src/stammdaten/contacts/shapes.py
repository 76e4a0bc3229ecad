"""Contacts in JSON: what is accepted, and the one function that renders what is returned."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationError
from pydantic_core import to_json

from stammdaten.http.fields import (
    CLEARED,
    SHORT_LINE,
    Identifier,
    OptionalFlag,
    RequiredShort,
    RequiredText,
    Shape,
    Short,
    Text,
    faults,
    one_of,
    wrong,
)
from stammdaten.refusals import Fault, Invalid

STATUSES = ("green", "yellow", "red", "gray", "black")
GENDERS = ("male", "female")
# What identifies a party: only a change of these makes another check necessary (decisions: Contacts).
IDENTIFYING = frozenset({"first_name", "last_name", "gender", "street", "postal_code", "city", "country_or_region"})
MOST_NOTES = 1_000


def _email(given: str) -> str:
    name, at, domain = given.partition("@")
    if not (name and at and domain) or "@" in domain or any(character.isspace() for character in given):
        raise wrong("must be an e-mail address: one @ with something on both sides and no blanks")
    return given


class _Note(Shape):
    text: RequiredText


def _kind(given: object) -> str:
    return "a String" if isinstance(given, str) else "an Object"


# Tags that are no identifiers, so that they are no steps of a fault's path.
_NoteOrText = Annotated[
    Annotated[RequiredText, Tag("a String")] | Annotated[_Note, Tag("an Object")], Discriminator(_kind)
]


class _Fields(Shape):
    """The fields of `contact` that a caller can set; the others are ignored, so that what was read can be sent back."""

    gender: Annotated[Annotated[str, one_of(GENDERS)] | None, CLEARED] = None
    first_name: Short = None
    email: Annotated[Annotated[str, SHORT_LINE, AfterValidator(_email)] | None, CLEARED] = None
    phone: Short = None
    street: Short = None
    postal_code: Short = None
    city: Short = None
    country_or_region: Short = None
    comment: Text = None
    notes: Annotated[list[_NoteOrText], Field(max_length=MOST_NOTES)] | None = None
    is_watchlist: OptionalFlag = None
    is_archived: OptionalFlag = None
    # Ignored, but a value outside the five is refused (decisions: Contacts).
    status: Annotated[str, one_of(STATUSES)] = STATUSES[0]


class _NewFields(_Fields):
    contact_uid: Identifier
    last_name: RequiredShort


class _UpdateFields(_Fields):
    # Defaults are not validated: these may be absent, but not cleared.
    contact_uid: Identifier = ""
    last_name: RequiredShort = ""


class _Find(Shape):
    contact_uid: Identifier


FLAGS = {"is_watchlist", "is_archived"}
_COLUMNS = _NewFields.model_fields.keys() - {"status", "contact_uid", "notes"}
# The columns of an address book, in the interface's order.
IMPORTED = ("contact_uid", *(name for name in _NewFields.model_fields if name in _COLUMNS))


class Contact(NamedTuple):
    """A contact as it is kept, in the order of the table's columns, without folded texts and document."""

    id: int
    contact_uid: str
    updated_at: str
    masterdata_updated_at: str
    is_watchlist: bool = False
    is_archived: bool = False
    gender: str | None = None
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone: str = ""
    street: str = ""
    postal_code: str = ""
    city: str = ""
    country_or_region: str = ""
    comment: str = ""
    notes: str = ""
    user_id: int = 0
    user_name: str = ""
    updated_by: str = ""
    status: str = ""
    sanctions_check: str = ""
    sanctions_check_result: str = ""
    matches: str = ""
    last_sanction_checked_at: str | None = None

    @property
    def full_name(self) -> str:
        """First and last name; a company's name stands in the last."""
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a body says of a contact: columns to set, and texts of notes to append."""

    contact_uid: str
    values: dict[str, Any]
    notes: list[str]


def read_new_contact(body: Any, unstorable: list[Fault]) -> Given:
    """Read the body of a create.

    :raises Invalid: with every fault at once.
    """
    return _given(_read(_NewFields, body, unstorable))


def read_contact_update(body: Any, unstorable: list[Fault], *, contact_uid: str) -> Given:
    """Read the body of an update of the contact with this uid.

    :raises Invalid: with every fault at once; also if the body holds another uid.
    """
    contact = body.get("contact") if isinstance(body, dict) else None
    named = contact.get("contact_uid", contact_uid) if isinstance(contact, dict) else contact_uid
    other = isinstance(named, str) and named.strip() != contact_uid
    changed = [Fault("contact.contact_uid", "cannot be changed")] if other else []
    return _given(_read(_UpdateFields, body, unstorable, changed))


def read_find(body: Any, unstorable: list[Fault]) -> str:
    """Read the body of a find.

    :raises Invalid: if `contact_uid` is missing or wrong.
    """
    if not isinstance(body, dict):
        raise Invalid([Fault("contact_uid", "is required")])
    return _validated(_Find, body, unstorable, "").contact_uid


_Fielded = TypeVar("_Fielded", bound=_Fields)
_Shaped = TypeVar("_Shaped", bound=Shape)


def _read(shape: type[_Fielded], body: Any, unstorable: list[Fault], also: Sequence[Fault] = ()) -> _Fielded:
    contact = body.get("contact") if isinstance(body, dict) else None
    if not isinstance(contact, dict):
        missing = not isinstance(body, dict) or "contact" not in body
        raise Invalid([Fault("contact", "is required: an Object" if missing else "must be an Object")])
    return _validated(shape, contact, unstorable, "contact", also)


def _validated(
    shape: type[_Shaped], value: Any, unstorable: list[Fault], within: str, also: Sequence[Fault] = ()
) -> _Shaped:
    found = {fault.path: fault for fault in also}
    try:
        read = shape.model_validate(value)
    except ValidationError as error:
        found |= {fault.path: fault for fault in faults(error, within)}
    # What cannot be kept says more than what follows from it.
    found |= {fault.path: fault for fault in unstorable}
    if found:
        raise Invalid(list(found.values()))
    return read


def _given(read: _NewFields | _UpdateFields) -> Given:
    values = {name: getattr(read, name) for name in read.model_fields_set & _COLUMNS}
    for name, value in values.items():
        if value is None and name != "gender":
            values[name] = False if name in FLAGS else ""
    notes = [note if isinstance(note, str) else note.text for note in read.notes or []]
    return Given(contact_uid=read.contact_uid, values=values, notes=notes)


def rendered_contact(contact: Contact) -> bytes:
    """Render the public JSON of a contact (specification, Contact); nothing else knows its shape."""
    return to_json(
        {
            "id": contact.id,
            "status": contact.status,
            "contact_uid": contact.contact_uid,
            "gender": contact.gender,
            "full_name": contact.full_name,
            "first_name": contact.first_name,
            "last_name": contact.last_name,
            "email": contact.email,
            "phone": contact.phone,
            "street": contact.street,
            "postal_code": contact.postal_code,
            "city": contact.city,
            "country_or_region": contact.country_or_region,
            "comment": contact.comment,
            "notes": json.loads(contact.notes or "[]"),
            "is_watchlist": contact.is_watchlist,
            "is_archived": contact.is_archived,
            "sanctions_check_result": json.loads(contact.sanctions_check_result or "{}"),
            "sanctions_check": contact.sanctions_check,
            "user_name": contact.user_name,
            "user_id": contact.user_id,
            "updated_by": contact.updated_by,
            "matches": json.loads(contact.matches or "[]"),
            "last_sanction_checked_at": contact.last_sanction_checked_at,
            "masterdata_updated_at": contact.masterdata_updated_at,
            # Not in the specification's table: what a client asks with as `timestamp` (decisions: Contacts).
            "updated_at": contact.updated_at,
        }
    )
