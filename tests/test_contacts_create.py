"""POST contacts: what becomes a contact, and what is refused, every fault of it at once.

The tables of fields and faults serve `test_contacts_update.py` too: an update takes and refuses the same.
"""

import json
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx
import pytest

from tests.cast import Member, found_product, make_contact, make_product

# The longest text each field takes; `email` is beside them, because not every text is one.
LONGEST = {
    "first_name": 255,
    "last_name": 255,
    "phone": 255,
    "street": 255,
    "postal_code": 255,
    "city": 255,
    "country_or_region": 255,
    "comment": 4_000,
}
ONE_LINE = [field for field in LONGEST if field != "comment"]
CLEARABLE = [field for field in LONGEST if field != "last_name"] + ["email"]
FLAGS = ["is_watchlist", "is_archived"]
# A value for each field that a caller can set, none of them the default.
FULL: dict[str, Any] = {
    "gender": "female",
    "first_name": "Ada",
    "last_name": "Lindgren",
    "email": "ada@lindgren.example",
    "phone": "+46 8 123456",
    "street": "Storgatan 1",
    "postal_code": "111 22",
    "city": "Stockholm",
    "country_or_region": "Sweden",
    "comment": "Met in Hanover.\nWrites.",
    "is_watchlist": True,
    "is_archived": True,
}
STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")

_NO_STRINGS: tuple[object, ...] = (1, 1.5, True, [], ["a"], {}, {"text": "a"})
_NO_FLAGS: tuple[object, ...] = (1, 0, "true", "", [], {})
_NO_ADDRESSES = (
    "ada",
    "@",
    "@@",
    "ada@",
    "@example.org",
    "ada@home@example.org",
    "ada@@example.org",
    "ada lindgren@example.org",
    "ada@example. org",
    " ada@example.org",
    "ada@example.org ",
    "ada@exa\u00a0mple.org",
    "ada@\u2003example.org",
    " ",
)
_ADDRESS = "must be an e-mail address: one @ with something on both sides and no blanks"
_GENDER = "must be one of male, female"
_STATUS = "must be one of green, yellow, red, gray, black"


def _each(fields: Iterable[str], values: Iterable[object], sentence: str) -> list[tuple[str, object, str]]:
    return [(field, value, sentence) for field in fields for value in values]


# Field, value, and what is wrong with it.
WRONG: list[tuple[str, object, str]] = [
    *_each(LONGEST, _NO_STRINGS, "must be a String"),
    *_each(ONE_LINE, ["x" * 256, "鍵" * 256], "must not be longer than 255 characters"),
    *_each(["city"], ["x" * 4_000, "x" * 100_000], "must not be longer than 255 characters"),
    *_each(["comment"], ["x" * 4_001, "鍵" * 4_001], "must not be longer than 4000 characters"),
    *_each(ONE_LINE, ["a\nb"], "must not hold control characters"),
    *_each(["city"], "\t\r\n\x01\x1b\x7f\x85\x9f", "must not hold control characters"),
    *_each(["last_name"], ["", " ", "\u3000\u00a0"], "must not be empty"),
    *_each(["last_name"], [None], "must be a String"),
    *_each(["gender"], ["Male", "FEMALE", "diverse", "m", " male", "male\n", " "], _GENDER),
    *_each(["gender"], [0, True, ["male"], {}], "must be a String"),
    *_each(["email"], _NO_STRINGS, "must be a String"),
    *_each(["email"], _NO_ADDRESSES, _ADDRESS),
    *_each(["email"], ["ada@example.org\n", "a\t@b"], "must not hold control characters"),
    *_each(["email"], ["a@" + "x" * 254], "must not be longer than 255 characters"),
    *_each(FLAGS, _NO_FLAGS, "must be true or false"),
    *_each(["status"], ["blue", "GREEN", "", " gray", "gray\n"], _STATUS),
    *_each(["status"], [None, 1, True, ["gray"], {}], "must be a String"),
    *_each(["notes"], ["a note", 1, True, {}, {"text": "a note"}], "must be an Array"),
]
# Values of `notes`, where the fault is, and what is wrong there.
WRONG_NOTES: list[tuple[object, str, str]] = [
    ([1], "notes[0]", "must be an Object"),
    ([None], "notes[0]", "must be an Object"),
    ([True], "notes[0]", "must be an Object"),
    ([["a note"]], "notes[0]", "must be an Object"),
    ([{}], "notes[0].text", "is required"),
    ([{"text": None}], "notes[0].text", "must be a String"),
    ([{"text": 1}], "notes[0].text", "must be a String"),
    ([{"text": ""}], "notes[0].text", "must not be empty"),
    ([{"text": "\n "}], "notes[0].text", "must not be empty"),
    ([{"text": "x" * 4_001}], "notes[0].text", "must not be longer than 4000 characters"),
    (["a note", {"text": []}], "notes[1].text", "must be a String"),
    ([f"note {number}" for number in range(1_001)], "notes", "must not hold more than 1000 entries"),
]
# What no database keeps, in each place of a contact where a text stands.
UNSTORABLE: list[tuple[str, str]] = [
    ("a\0b", "must not hold NUL characters"),
    ("a\ud800b", "must not hold lone surrogates"),
    ("\udfff", "must not hold lone surrogates"),
    ("\udc00\ud800", "must not hold lone surrogates"),
]
TEXT_FIELDS = [*LONGEST, "email", "gender", "status"]
NOT_JSON: list[bytes] = [
    b"",
    b" ",
    b"{",
    b"contact",
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}',
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}} {}',
    b"{'contact': {'contact_uid': 'K-1', 'last_name': 'Lindgren'}}",
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren", "id": NaN}}',
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren", "id": -Infinity}}',
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgr\xe9n"}}',
    b'{"contact": {"contact_uid": "K-1", "last_name": "\xed\xa0\x80"}}',
    b'{"contact": {"contact_uid": "K-1", "last_name": "a\nb"}}',
    '{"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}}'.encode("utf-16"),
    b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren", "x": ' + b"[" * 63 + b"]" * 63 + b"}}",
    b"[" * 100_000,
    b'{"contact": {"id": ' + b"1" * 5_000 + b"}}",
]
UIDS = [
    "K-1",
    "DE/70012",
    "/",
    "a/../b",
    "100%",
    "%2F",
    "%41",
    "snake_case",
    "back\\slash",
    "O'Neill",
    'say "hello"',
    "what?",
    "a#b",
    "inner  blanks",
    "a+b",
    "a&b=c;d",
    "<b>{x}",
    "Straße 7",
    "ключ-7",
    "κλειδί",
    "مفتاح",
    "מפתח",
    "鍵",
    "कुंजी",
    "🗝\ufe0f",
    "\u00e9",
    "e\u0301",
    "find",
    "0",
    "null",
    "...",
    "x" * 255,
    "鍵" * 255,
]


def unset(created: dict[str, Any]) -> dict[str, Any]:
    """Return a contact of which only `contact_uid` and `last_name` were given, with the ids and stamps of this one."""
    taken = ("id", "user_id", "updated_at", "masterdata_updated_at")
    return {
        "status": "gray",
        "contact_uid": "K-1",
        "gender": None,
        "full_name": "Lindgren",
        "first_name": "",
        "last_name": "Lindgren",
        "email": "",
        "phone": "",
        "street": "",
        "postal_code": "",
        "city": "",
        "country_or_region": "",
        "comment": "",
        "notes": [],
        "is_watchlist": False,
        "is_archived": False,
        "sanctions_check_result": {"reason": "No official sanctions list is loaded."},
        "sanctions_check": "unchecked",
        "user_name": "anna",
        "updated_by": "anna",
        "matches": [],
        "last_sanction_checked_at": None,
    } | {name: created[name] for name in taken}


def faults(**sentences: str) -> dict[str, object]:
    """Return the body that lists these faults of contact fields."""
    lines = [f"contact.{field} {sentence}" for field, sentence in sentences.items()]
    errors = {f"contact.{field}": [f"contact.{field} {sentence}"] for field, sentence in sentences.items()}
    return {"message": "; ".join(lines), "errors": errors}


def errors(response: httpx.Response) -> dict[str, list[str]]:
    """Return the faults that an answer lists."""
    assert response.status_code == 422, response.text
    listed: dict[str, list[str]] = response.json()["errors"]
    return listed


def total(member: Member) -> int:
    """Return how many contacts are not archived."""
    return int(member.get("/contacts").json()["total"])


def _made(member: Member, **fields: Any) -> dict[str, Any]:
    return make_contact(member, **fields)


def _create(member: Member, **fields: object) -> httpx.Response:
    contact = {"contact_uid": "K-1", "last_name": "Lindgren", **fields}
    # Dumped here, as ASCII: lone surrogates travel as escapes.
    return member.request("POST", "/contacts", content=json.dumps({"contact": contact}).encode())


class TestCreateContact:
    """POST contacts: what is kept and answered."""

    def test_answers_with_every_field_and_its_default(self, anna: Member) -> None:
        contact = {"contact_uid": "K-1", "last_name": "Lindgren"}

        response = anna.post("/contacts", {"contact": contact})

        assert response.status_code == 201
        assert response.json() == {"contact": unset(response.json()["contact"])}

    def test_keeps_every_field_that_was_given(self, anna: Member) -> None:
        given = {"contact_uid": "K-1", **FULL}

        created = make_contact(anna, **FULL)

        assert created == {**unset(created), **given, "full_name": "Ada Lindgren"}
        assert anna.get("/contacts/K-1").json() == {"contact": created}

    @pytest.mark.parametrize("cleared", ["", None])
    @pytest.mark.parametrize("field", CLEARABLE)
    def test_takes_no_text_for_an_unset_one(self, anna: Member, field: str, cleared: str | None) -> None:
        created = _made(anna, **{field: cleared})

        assert created == unset(created)

    @pytest.mark.parametrize("cleared", ["", None])
    def test_takes_no_gender_for_an_unset_one(self, anna: Member, cleared: str | None) -> None:
        created = make_contact(anna, gender=cleared)

        assert created == unset(created)

    @pytest.mark.parametrize("field", [*FLAGS, "notes"])
    def test_takes_null_for_what_was_not_given(self, anna: Member, field: str) -> None:
        created = _made(anna, **{field: None})

        assert created == unset(created)

    @pytest.mark.parametrize("character", ["x", "ß", "鍵", "𝄞"])
    @pytest.mark.parametrize(("field", "longest"), LONGEST.items())
    def test_counts_characters_up_to_the_limit(self, anna: Member, field: str, longest: int, character: str) -> None:
        text = character * longest

        created = _made(anna, **{field: text})

        assert created[field] == text

    def test_keeps_texts_of_any_script_as_they_are(self, anna: Member) -> None:
        texts = dict.fromkeys(LONGEST, " Å\u030a ß \\ % _ ' \" Ωκ 鍵 🗝\ufe0f \u200b\u202e ")

        created = _made(anna, **texts)

        assert {field: created[field] for field in texts} == texts

    def test_keeps_line_breaks_in_the_comment(self, anna: Member) -> None:
        created = make_contact(anna, comment="one\r\n\ttwo\n")

        assert created["comment"] == "one\r\n\ttwo\n"

    @pytest.mark.parametrize(
        "email",
        [
            "ada@example.org",
            "a@b",
            "ada@localhost",
            "ada+orders@example.org",
            "ädä@exämple.de",
            "почта@пример.рф",
            '"quoted"@example.org',
            "ada@[2001:db8::1]",
            "ADA@EXAMPLE.ORG",
            "a@" + "x" * 253,
        ],
    )
    def test_takes_any_address_with_one_at_sign(self, anna: Member, email: str) -> None:
        created = make_contact(anna, email=email)

        assert created["email"] == email

    @pytest.mark.parametrize("gender", ["male", "female"])
    def test_keeps_the_gender(self, anna: Member, gender: str) -> None:
        created = make_contact(anna, gender=gender)

        assert created["gender"] == gender

    @pytest.mark.parametrize(
        ("names", "full_name"),
        [
            ({"first_name": "Ada", "last_name": "Lindgren"}, "Ada Lindgren"),
            ({"last_name": "Lindgren AB"}, "Lindgren AB"),
            ({"first_name": "Ada Maria", "last_name": "von der Höhe"}, "Ada Maria von der Höhe"),
            ({"first_name": "x" * 255, "last_name": "y" * 255}, "x" * 255 + " " + "y" * 255),
            ({"last_name": "Lindgren", "full_name": "Somebody Else"}, "Lindgren"),
        ],
    )
    def test_makes_the_full_name_of_both_names(self, anna: Member, names: dict[str, str], full_name: str) -> None:
        created = _made(anna, **names)

        assert created["full_name"] == full_name

    @pytest.mark.parametrize("status", ["green", "yellow", "red", "gray", "black"])
    def test_pretends_no_check(self, anna: Member, status: str) -> None:
        created = make_contact(anna, status=status)

        assert created == unset(created)

    @pytest.mark.parametrize(
        "ignored",
        [
            {"id": 7, "full_name": "Somebody Else", "user_name": "bruno", "user_id": 1, "updated_by": "bruno"},
            {"updated_at": "2001-01-01T00:00:00.000000Z", "masterdata_updated_at": None},
            {"sanctions_check": "clear", "sanctions_check_result": {"highest_score": 0}, "matches": [{}]},
            {"last_sanction_checked_at": "2001-01-01T00:00:00.000000Z"},
            {"id": "x", "user_id": [], "full_name": 1, "matches": "none", "updated_at": False},
            {"unknown": {"deep": [1, None]}, "Gender": "male", "": "", "lastName": "Else"},
        ],
    )
    def test_ignores_what_a_caller_cannot_set(self, anna: Member, ignored: dict[str, Any]) -> None:
        response = _create(anna, **ignored)

        created = response.json()["contact"]
        assert created == unset(created)

    def test_ignores_members_beside_the_contact(self, anna: Member) -> None:
        body = {"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}, "contact_uid": "K-2", "x": [{}]}

        response = anna.post("/contacts", body)

        created = response.json()["contact"]
        assert created == unset(created)

    @pytest.mark.parametrize("content_type", ["", "text/plain", "application/xml; charset=latin-1"])
    def test_does_not_look_at_the_content_type(self, anna: Member, content_type: str) -> None:
        body = '{"contact": {"contact_uid": "Ü-1", "last_name": "Lindgren"}}'.encode()

        response = anna.request(
            "POST", "/contacts", content=body, headers={"Content-Type": content_type, "Accept": "text/html"}
        )

        assert response.status_code == 201
        assert response.headers["content-type"] == "application/json"
        assert response.json()["contact"]["contact_uid"] == "Ü-1"

    def test_takes_64_levels_of_nesting(self, anna: Member) -> None:
        body = b'{"contact": {"contact_uid": "K-1", "last_name": "L", "x": ' + b"[" * 62 + b"]" * 62 + b"}}"

        response = anna.request("POST", "/contacts", content=body)

        assert response.status_code == 201

    def test_names_the_user_and_their_id(self, anna: Member) -> None:
        make_product(anna)

        created = make_contact(anna)

        assert (created["user_name"], created["updated_by"]) == ("anna", "anna")
        assert created["user_id"] == found_product(anna)["user_id"]

    def test_stamps_with_the_present_in_utc(self, anna: Member) -> None:
        before = datetime.now(UTC) - timedelta(minutes=1)

        created = make_contact(anna)

        assert STAMP.fullmatch(created["updated_at"])
        assert created["masterdata_updated_at"] == created["updated_at"]
        assert before < datetime.fromisoformat(created["updated_at"]) < before + timedelta(minutes=2)

    def test_takes_ids_and_stamps_in_order(self, anna: Member) -> None:
        contacts = [make_contact(anna, f"K-{number}") for number in range(5)]

        ids = [contact["id"] for contact in contacts]
        stamps = [contact["updated_at"] for contact in contacts]
        assert ids == sorted(set(ids))
        assert stamps == sorted(set(stamps))

    def test_shares_the_counter_of_ids_with_products(self, anna: Member) -> None:
        product_id = make_product(anna)

        created = make_contact(anna)

        assert created["id"] > product_id > created["user_id"]


class TestContactUid:
    """POST contacts: the uid, which is the caller's to choose."""

    @pytest.mark.parametrize("contact_uid", [*UIDS, ".", ".."])
    def test_may_hold_anything_printable(self, anna: Member, contact_uid: str) -> None:
        created = make_contact(anna, contact_uid)

        assert created == unset(created) | {"contact_uid": contact_uid}
        assert anna.post("/contacts/find", {"contact_uid": contact_uid}).json() == {"contact": created}

    @pytest.mark.parametrize(
        "given", [" K-1", "K-1 ", "   K-1  ", "\u00a0K-1\u3000", "\u2003K-1", " " * 300 + "K-1" + " " * 300]
    )
    def test_is_trimmed(self, anna: Member, given: str) -> None:
        created = make_contact(anna, given)

        assert created == unset(created)

    def test_is_counted_after_trimming(self, anna: Member) -> None:
        created = make_contact(anna, f" {'x' * 255} ")

        assert created["contact_uid"] == "x" * 255

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("K-1", "k-1"),
            ("STRASSE", "Straße"),
            ("\u00e9", "e\u0301"),
            ("K1", "\u212a1"),
            ("ﬁ", "fi"),
            ("a b", "a  b"),
            ("K-1", "K\u20111"),
        ],
    )
    def test_is_compared_exactly(self, anna: Member, one: str, other: str) -> None:
        first = make_contact(anna, one)

        second = make_contact(anna, other)

        assert second["id"] != first["id"]
        assert anna.post("/contacts/find", {"contact_uid": one}).json() == {"contact": first}
        assert anna.post("/contacts/find", {"contact_uid": other}).json() == {"contact": second}

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            (None, "must be a String"),
            (1, "must be a String"),
            (True, "must be a String"),
            ([], "must be a String"),
            ({}, "must be a String"),
            ("", "must not be empty"),
            (" ", "must not be empty"),
            ("\u3000\u00a0 ", "must not be empty"),
            ("x" * 256, "must not be longer than 255 characters"),
            ("鍵" * 256, "must not be longer than 255 characters"),
            ("a\tb", "must not hold control characters"),
            ("K-1\n", "must not hold control characters"),
            ("\rK-1", "must not hold control characters"),
            ("\x85", "must not hold control characters"),
            ("a\0b", "must not hold NUL characters"),
            ("\0", "must not hold NUL characters"),
            ("a\ud800", "must not hold lone surrogates"),
        ],
    )
    def test_is_refused_where_it_is_no_uid(self, anna: Member, given: object, sentence: str) -> None:
        response = _create(anna, contact_uid=given)

        assert response.status_code == 422
        assert response.json() == faults(contact_uid=sentence)
        assert total(anna) == 0

    @pytest.mark.parametrize("again", ["K-1", " K-1 "])
    def test_is_refused_where_it_is_in_use(self, anna: Member, again: str) -> None:
        first = make_contact(anna)

        response = anna.post("/contacts", {"contact": {"contact_uid": again, "last_name": "Else"}})

        assert response.status_code == 400
        assert response.json() == {"message": "Contact already exists"}
        assert anna.get("/contacts").json()["contacts"] == [first]

    def test_is_in_use_by_an_archived_contact_too(self, anna: Member) -> None:
        make_contact(anna, is_archived=True)

        response = _create(anna)

        assert response.status_code == 400
        assert response.json() == {"message": "Contact already exists"}

    def test_is_looked_up_after_the_faults(self, anna: Member) -> None:
        make_contact(anna)

        response = _create(anna, gender="none")

        assert response.status_code == 422
        assert response.json() == faults(gender=_GENDER)

    def test_means_nothing_in_another_instance(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)

        created = make_contact(bruno)

        assert created == unset(created) | {"user_name": "bruno", "updated_by": "bruno"}
        assert total(anna) == total(bruno) == 1

    def test_goes_to_one_of_many_who_ask_at_once(self, anna: Member) -> None:
        with ThreadPoolExecutor(8) as threads:
            responses = list(threads.map(lambda number: _create(anna, last_name=f"L{number}"), range(16)))

        assert sorted(response.status_code for response in responses) == [201] + [400] * 15
        created = [response.json()["contact"] for response in responses if response.status_code == 201]
        assert anna.get("/contacts").json()["contacts"] == created


class TestNotesOfANewContact:
    """POST contacts: notes."""

    def test_come_back_with_who_and_when(self, anna: Member) -> None:
        created = make_contact(anna, notes=["First", {"text": "Second\nline"}])

        signed = {"user_name": "anna", "created_at": created["updated_at"]}
        assert created["notes"] == [{"text": "First", **signed}, {"text": "Second\nline", **signed}]

    def test_take_nothing_from_an_object_but_its_text(self, anna: Member) -> None:
        note = {"text": "First", "user_name": "bruno", "created_at": "2001-01-01T00:00:00.000000Z", "id": [{}]}

        created = make_contact(anna, notes=[note])

        assert created["notes"] == [{"text": "First", "user_name": "anna", "created_at": created["updated_at"]}]

    def test_stand_once_each(self, anna: Member) -> None:
        notes = ["First", {"text": "First"}, "Second", "First", "first", "First "]

        created = make_contact(anna, notes=notes)

        assert [note["text"] for note in created["notes"]] == ["First", "Second", "first", "First "]

    @pytest.mark.parametrize("note", ["x" * 4_000, "鍵" * 4_000, "\n\tindented", "0"])
    def test_are_kept_as_they_are(self, anna: Member, note: str) -> None:
        created = make_contact(anna, notes=[note])

        assert [note["text"] for note in created["notes"]] == [note]

    def test_may_be_a_thousand(self, anna: Member) -> None:
        notes = [f"note {number}" for number in range(1_000)]

        created = make_contact(anna, notes=notes)

        assert [note["text"] for note in created["notes"]] == notes


class TestFaultsOfANewContact:
    """POST contacts: 422, with an entry for each fault."""

    @pytest.mark.parametrize(("field", "value", "sentence"), WRONG)
    def test_name_the_field(self, anna: Member, field: str, value: object, sentence: str) -> None:
        response = _create(anna, **{field: value})

        assert response.status_code == 422
        assert response.json() == faults(**{field: sentence})
        assert total(anna) == 0

    @pytest.mark.parametrize(("notes", "place", "sentence"), WRONG_NOTES)
    def test_name_the_place_in_the_notes(self, anna: Member, notes: object, place: str, sentence: str) -> None:
        response = _create(anna, notes=notes)

        assert response.status_code == 422
        assert response.json() == faults(**{place: sentence})

    @pytest.mark.parametrize("note", ["", " ", "x" * 4_001])
    def test_name_the_note_that_is_a_string(self, anna: Member, note: str) -> None:
        response = _create(anna, notes=["good", note])

        assert list(errors(response)) == ["contact.notes[1]"]

    @pytest.mark.parametrize(("text", "sentence"), UNSTORABLE)
    @pytest.mark.parametrize("field", TEXT_FIELDS)
    def test_are_of_the_field_that_holds_nul_or_a_surrogate(
        self, anna: Member, field: str, text: str, sentence: str
    ) -> None:
        response = _create(anna, **{field: text})

        assert response.status_code == 422
        assert response.json() == faults(**{field: sentence})

    @pytest.mark.parametrize(("text", "sentence"), UNSTORABLE)
    @pytest.mark.parametrize("place", ["notes[0]", "notes[0].text"])
    def test_are_of_the_note_that_holds_nul_or_a_surrogate(
        self, anna: Member, place: str, text: str, sentence: str
    ) -> None:
        response = _create(anna, notes=[text] if place == "notes[0]" else [{"text": text}])

        assert response.status_code == 422
        assert response.json() == faults(**{place: sentence})

    @pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
    def test_are_of_the_contact_that_has_an_unstorable_member(self, anna: Member, name: str) -> None:
        response = _create(anna, **{name: 1})

        assert list(errors(response)) == ["contact"]

    @pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**64, 10**30, 1e300])
    def test_are_of_the_field_with_a_number_out_of_range(self, anna: Member, number: float) -> None:
        response = _create(anna, id=number)

        assert response.status_code == 422
        assert response.json() == faults(id=f"must be within ±{2**53}")

    def test_are_of_the_field_with_a_number_beyond_floats(self, anna: Member) -> None:
        body = b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren", "phone": 1e999}}'

        response = anna.request("POST", "/contacts", content=body)

        assert list(errors(response)) == ["contact.phone"]

    @pytest.mark.parametrize(
        ("contact", "missing"),
        [
            ({}, {"contact_uid", "last_name"}),
            ({"contact_uid": "K-1"}, {"last_name"}),
            ({"last_name": "Lindgren"}, {"contact_uid"}),
            ({"first_name": "Ada", "contact_uid": "K-1"}, {"last_name"}),
        ],
    )
    def test_tell_what_is_required(self, anna: Member, contact: dict[str, str], missing: set[str]) -> None:
        response = anna.post("/contacts", {"contact": contact})

        assert errors(response) == {f"contact.{field}": [f"contact.{field} is required"] for field in missing}

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            (None, "is required: an Object"),
            ([], "is required: an Object"),
            ("contact", "is required: an Object"),
            (7, "is required: an Object"),
            ({}, "is required: an Object"),
            ({"contact_uid": "K-1", "last_name": "Lindgren"}, "is required: an Object"),
            ({"contact": None}, "must be an Object"),
            ({"contact": []}, "must be an Object"),
            ({"contact": [{"contact_uid": "K-1", "last_name": "Lindgren"}]}, "must be an Object"),
            ({"contact": "K-1"}, "must be an Object"),
            ({"contact": 7}, "must be an Object"),
            ({"contact": True}, "must be an Object"),
            ({"contact": "\0"}, "must be an Object"),
        ],
    )
    def test_are_of_the_contact_where_it_is_missing_or_wrong(self, anna: Member, body: object, sentence: str) -> None:
        response = anna.request("POST", "/contacts", content=json.dumps(body).encode())

        assert response.status_code == 422
        assert response.json() == {
            "message": f"contact {sentence}",
            "errors": {"contact": [f"contact {sentence}"]},
        }

    def test_are_all_told_at_once(self, anna: Member) -> None:
        contact = {
            "contact_uid": " ",
            "gender": "none",
            "first_name": "a\0",
            "last_name": None,
            "email": "ada",
            "phone": 49,
            "street": "x" * 256,
            "postal_code": "\ud800",
            "city": "a\nb",
            "country_or_region": [],
            "comment": "x" * 4_001,
            "notes": ["good", 1, {}],
            "is_watchlist": "true",
            "is_archived": 0,
            "status": "blue",
            "id": 2**64,
        }

        response = anna.request("POST", "/contacts", content=json.dumps({"contact": contact}).encode())

        listed = errors(response)
        assert listed.keys() == {
            *(f"contact.{field}" for field in contact.keys() - {"notes"}),
            "contact.notes[1]",
            "contact.notes[2].text",
        }
        assert all(len(sentences) == 1 for sentences in listed.values())
        assert all(sentences[0].startswith(f"{path} ") for path, sentences in listed.items())

    def test_read_as_the_contract_shows_them(self, anna: Member) -> None:
        response = anna.post("/contacts", {"contact": {"contact_uid": "K-1", "gender": "none"}})

        assert errors(response) == {
            "contact.last_name": ["contact.last_name is required"],
            "contact.gender": ["contact.gender must be one of male, female"],
        }


class TestRefusedCreate:
    """POST contacts: other refusals."""

    @pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
    def test_is_400_where_the_body_is_no_json(self, anna: Member, body: bytes) -> None:
        response = anna.request("POST", "/contacts", content=body)

        assert response.status_code == 400
        assert list(response.json()) == ["message"]
        assert total(anna) == 0

    @pytest.mark.parametrize("size", [1024 * 1024 + 1, 20_000_000])
    def test_is_413_where_the_body_is_too_large(self, anna: Member, size: int) -> None:
        body = b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}}'.ljust(size)

        response = anna.request("POST", "/contacts", content=body)

        assert response.status_code == 413
        assert response.json() == {"message": "The body must not be larger than 1048576 bytes."}
        assert total(anna) == 0

    def test_is_none_where_the_body_is_as_large_as_may_be(self, anna: Member) -> None:
        body = b'{"contact": {"contact_uid": "K-1", "last_name": "Lindgren"}}'.ljust(1024 * 1024)

        response = anna.request("POST", "/contacts", content=body)

        assert response.status_code == 201

    @pytest.mark.parametrize("body", [b'{"contact": {"contact_uid": "K-1", "last_name": "L"}}', b"{", b"{}"])
    def test_is_403_without_the_role(self, anna: Member, no_role: Member, body: bytes) -> None:
        response = no_role.request("POST", "/contacts", content=body)

        assert response.status_code == 403
        assert response.json() == {"message": "This action needs the role api-user."}
        assert total(anna) == 0

    def test_is_401_without_a_token(self, anna: Member) -> None:
        path = f"/api/{anna.prefix}/v1/contacts"

        response = anna.service.request("POST", path, content=b"{")

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert list(response.json()) == ["message"]

    def test_is_403_with_a_token_of_another_instance(self, anna: Member, bruno: Member) -> None:
        contact = {"contact_uid": "K-1", "last_name": "Lindgren"}

        response = anna.service.request(
            "POST",
            f"/api/{anna.prefix}/v1/contacts",
            json={"contact": contact},
            headers={"Authorization": f"Bearer {bruno.token}"},
        )

        assert response.status_code == 403
        assert response.json() == {"message": "This token is not for this prefix."}
        assert total(anna) == total(bruno) == 0
