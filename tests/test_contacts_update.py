"""PUT contacts/{contact_uid}: what changes, what stays, and what is refused, every fault of it at once.

What an update takes and refuses in a field is what a create does: the tables are those of `test_contacts_create.py`.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest

from tests.cast import Member, make_contact, make_product
from tests.test_contacts_create import (
    CLEARABLE,
    FLAGS,
    FULL,
    LONGEST,
    NOT_JSON,
    STAMP,
    TEXT_FIELDS,
    UIDS,
    UNSTORABLE,
    WRONG,
    WRONG_NOTES,
    errors,
    faults,
    total,
)

# Another value for each field that a caller can set.
OTHER: dict[str, Any] = {
    "gender": "male",
    "first_name": "Åke",
    "last_name": "Ångström",
    "email": "ake@angstrom.example",
    "phone": "+46 8 654321",
    "street": "Lillgatan 2",
    "postal_code": "222 11",
    "city": "Lund",
    "country_or_region": "Skåne",
    "comment": "Moved.",
    "is_watchlist": False,
    "is_archived": False,
}
# A change of these makes it another party to look for; a change of the others does not.
IDENTIFYING = ["gender", "first_name", "last_name", "street", "postal_code", "city", "country_or_region"]
OTHERS = [field for field in OTHER if field not in IDENTIFYING]


def _update(member: Member, contact: object, *, path: str = "K-1") -> httpx.Response:
    # Dumped here, as ASCII: lone surrogates travel as escapes.
    return member.request("PUT", f"/contacts/{path}", content=json.dumps({"contact": contact}).encode())


def _updated(member: Member, contact: object, *, path: str = "K-1") -> dict[str, Any]:
    response = _update(member, contact, path=path)
    assert response.status_code == 200, response.text
    updated: dict[str, Any] = response.json()["contact"]
    return updated


def _found(member: Member, contact_uid: str = "K-1") -> dict[str, Any]:
    response = member.post("/contacts/find", {"contact_uid": contact_uid})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()["contact"]
    return found


def _stamps(contact: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: contact[name] for name in names}


class TestUpdateContact:
    """PUT contacts/{contact_uid}: what changes and what stays."""

    @pytest.mark.parametrize(("field", "value"), OTHER.items())
    def test_changes_the_field_given_and_keeps_the_others(self, anna: Member, field: str, value: object) -> None:
        before = make_contact(anna, **FULL, notes=["A note"])

        response = _update(anna, {field: value})

        updated = response.json()["contact"]
        full_name = f"{updated['first_name']} {updated['last_name']}"
        stamps = _stamps(updated, "updated_at", "masterdata_updated_at")
        assert response.status_code == 200
        assert updated == {**before, field: value, "full_name": full_name, **stamps}
        assert _found(anna) == updated

    def test_changes_all_fields_at_once(self, anna: Member) -> None:
        before = make_contact(anna, **FULL)

        updated = _updated(anna, OTHER)

        stamps = _stamps(updated, "updated_at", "masterdata_updated_at")
        assert updated == {**before, **OTHER, "full_name": "Åke Ångström", **stamps}

    @pytest.mark.parametrize("cleared", ["", None])
    @pytest.mark.parametrize("field", CLEARABLE)
    def test_clears_a_text(self, anna: Member, field: str, cleared: str | None) -> None:
        make_contact(anna, **FULL)

        updated = _updated(anna, {field: cleared})

        assert updated[field] == ""
        assert updated["full_name"] == ("Lindgren" if field == "first_name" else "Ada Lindgren")

    @pytest.mark.parametrize("cleared", ["", None])
    def test_clears_the_gender(self, anna: Member, cleared: str | None) -> None:
        make_contact(anna, **FULL)

        updated = _updated(anna, {"gender": cleared})

        assert updated["gender"] is None

    @pytest.mark.parametrize("flag", FLAGS)
    def test_clears_a_flag_with_null(self, anna: Member, flag: str) -> None:
        make_contact(anna, **FULL)

        updated = _updated(anna, {flag: None})

        assert updated[flag] is False

    @pytest.mark.parametrize("character", ["x", "鍵", "𝄞"])
    @pytest.mark.parametrize(("field", "longest"), LONGEST.items())
    def test_counts_characters_up_to_the_limit(self, anna: Member, field: str, longest: int, character: str) -> None:
        make_contact(anna)

        updated = _updated(anna, {field: character * longest})

        assert updated[field] == character * longest

    def test_changes_nothing_but_the_stamp_where_nothing_was_given(self, anna: Member) -> None:
        before = make_contact(anna, **FULL, notes=["A note"])

        updated = _updated(anna, {})

        assert updated == {**before, **_stamps(updated, "updated_at")}
        assert updated["updated_at"] > before["updated_at"]

    def test_changes_nothing_but_the_stamp_where_what_was_read_is_sent_back(self, anna: Member) -> None:
        make_contact(anna, **FULL, notes=["A note", "Another"])
        read = anna.get("/contacts/K-1").json()

        response = anna.put("/contacts/K-1", read)

        updated = response.json()["contact"]
        assert updated == {**read["contact"], **_stamps(updated, "updated_at")}
        assert updated["updated_at"] > read["contact"]["updated_at"]

    @pytest.mark.parametrize("field", IDENTIFYING)
    def test_moves_the_stamp_of_master_data_with_what_identifies(self, anna: Member, field: str) -> None:
        before = make_contact(anna, **FULL)

        updated = _updated(anna, {field: OTHER[field]})

        assert updated["masterdata_updated_at"] == updated["updated_at"] > before["updated_at"]

    @pytest.mark.parametrize("field", [field for field in IDENTIFYING if field != "last_name"])
    def test_moves_the_stamp_of_master_data_with_what_no_longer_identifies(self, anna: Member, field: str) -> None:
        make_contact(anna, **FULL)

        updated = _updated(anna, {field: None})

        assert updated["masterdata_updated_at"] == updated["updated_at"]

    @pytest.mark.parametrize("field", OTHERS)
    def test_keeps_the_stamp_of_master_data_with_anything_else(self, anna: Member, field: str) -> None:
        before = make_contact(anna, **FULL)

        updated = _updated(anna, {field: OTHER[field]})

        assert updated["masterdata_updated_at"] == before["masterdata_updated_at"] < updated["updated_at"]

    @pytest.mark.parametrize(
        "change",
        [{field: FULL[field] for field in IDENTIFYING}, {"notes": ["A note"]}, {"full_name": "Else"}, {"id": 7}],
    )
    def test_keeps_the_stamp_of_master_data_where_none_of_it_differs(
        self, anna: Member, change: dict[str, Any]
    ) -> None:
        before = make_contact(anna, **FULL)

        updated = _updated(anna, change)

        assert updated["masterdata_updated_at"] == before["masterdata_updated_at"]

    def test_keeps_the_stamp_of_master_data_where_nothing_is_cleared_again(self, anna: Member) -> None:
        before = make_contact(anna)

        updated = _updated(anna, {"gender": "", "city": None, "street": ""})

        assert updated["masterdata_updated_at"] == before["masterdata_updated_at"]

    def test_stamps_in_order(self, anna: Member) -> None:
        created = make_contact(anna)

        stamps = [_updated(anna, {"comment": str(number)})["updated_at"] for number in range(5)]

        assert [created["updated_at"], *stamps] == sorted({created["updated_at"], *stamps})
        assert all(STAMP.fullmatch(stamp) for stamp in stamps)

    def test_names_who_updated_and_who_created(self, anna: Member) -> None:
        carla = anna.service.colleague(anna, "carla", roles=["api-user"])
        before = make_contact(anna)

        updated = _updated(carla, {"city": "Lund"})

        assert updated["updated_by"] == "carla"
        assert (updated["user_name"], updated["user_id"]) == ("anna", before["user_id"])

    @pytest.mark.parametrize(
        ("names", "full_name"),
        [
            ({"first_name": "Åke"}, "Åke Lindgren"),
            ({"last_name": "Ångström"}, "Ada Ångström"),
            ({"first_name": ""}, "Lindgren"),
            ({"first_name": None, "last_name": "Lindgren AB"}, "Lindgren AB"),
            ({"full_name": "Somebody Else"}, "Ada Lindgren"),
        ],
    )
    def test_makes_the_full_name_anew(self, anna: Member, names: dict[str, str | None], full_name: str) -> None:
        make_contact(anna, first_name="Ada")

        updated = _updated(anna, names)

        assert updated["full_name"] == full_name

    @pytest.mark.parametrize(
        "ignored",
        [
            {"id": 7, "full_name": "Somebody Else", "user_name": "bruno", "user_id": 1, "updated_by": "bruno"},
            {"updated_at": "2001-01-01T00:00:00.000000Z", "masterdata_updated_at": None},
            {"sanctions_check": "clear", "sanctions_check_result": {"highest_score": 0}, "matches": [{}]},
            {"last_sanction_checked_at": "2001-01-01T00:00:00.000000Z"},
            {"id": "x", "user_id": [], "full_name": 1, "matches": "none", "updated_at": False},
            {"unknown": {"deep": [1, None]}, "Gender": "male", "": "", "lastName": "Else"},
            {"status": "green"},
            {"status": "black"},
        ],
    )
    def test_ignores_what_a_caller_cannot_set(self, anna: Member, ignored: dict[str, Any]) -> None:
        before = make_contact(anna, **FULL)

        updated = _updated(anna, ignored)

        assert updated == {**before, **_stamps(updated, "updated_at")}

    @pytest.mark.parametrize("same", ["K-1", " K-1 ", "\u00a0K-1"])
    def test_takes_the_uid_that_stands_in_the_path(self, anna: Member, same: str) -> None:
        before = make_contact(anna)

        updated = _updated(anna, {"contact_uid": same})

        assert updated == {**before, **_stamps(updated, "updated_at")}

    def test_reaches_an_archived_contact(self, anna: Member) -> None:
        make_contact(anna, is_archived=True)

        updated = _updated(anna, {"city": "Lund"})

        assert (updated["city"], updated["is_archived"]) == ("Lund", True)

    def test_archives_and_brings_back(self, anna: Member) -> None:
        make_contact(anna)

        totals = []
        for is_archived in (True, True, False, False):
            _updated(anna, {"is_archived": is_archived})
            totals.append((total(anna), anna.get("/contacts", is_archived="true").json()["total"]))

        assert totals == [(0, 1), (0, 1), (1, 0), (1, 0)]

    @pytest.mark.parametrize("contact_uid", UIDS)
    def test_reaches_a_contact_of_any_uid(self, anna: Member, contact_uid: str) -> None:
        before = make_contact(anna, contact_uid)

        updated = _updated(anna, {"contact_uid": contact_uid, "comment": "reached"}, path=quote(contact_uid, safe=""))

        assert updated == {**before, "comment": "reached", **_stamps(updated, "updated_at")}

    def test_leaves_a_contact_of_another_instance_alone(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)
        other = make_contact(bruno)

        updated = _updated(anna, {"last_name": "Else"})

        assert updated["last_name"] == "Else"
        assert _found(bruno) == other

    def test_loses_none_of_many_at_once(self, anna: Member) -> None:
        make_contact(anna)

        with ThreadPoolExecutor(8) as threads:
            updates = list(threads.map(lambda number: _updated(anna, {"notes": [f"note {number}"]}), range(24)))

        assert {note["text"] for note in _found(anna)["notes"]} == {f"note {number}" for number in range(24)}
        assert len({update["updated_at"] for update in updates}) == 24
        assert _found(anna)["updated_at"] == max(update["updated_at"] for update in updates)


class TestNotesOfAContact:
    """PUT contacts/{contact_uid}: notes are added, and never removed."""

    def test_are_appended_with_who_and_when(self, anna: Member) -> None:
        carla = anna.service.colleague(anna, "carla", roles=["api-user"])
        before = make_contact(anna, notes=["First"])

        updated = _updated(carla, {"notes": ["Second", {"text": "Third"}]})

        added = [{**note, "created_at": None} for note in updated["notes"][1:]]
        assert updated["notes"][0] == before["notes"][0]
        assert added == [{"text": text, "user_name": "carla", "created_at": None} for text in ("Second", "Third")]
        assert all(before["updated_at"] < note["created_at"] <= updated["updated_at"] for note in updated["notes"][1:])

    @pytest.mark.parametrize(
        "again",
        [
            ["First"],
            [{"text": "First"}],
            ["Second", "First", "Second"],
            [{"text": "First", "user_name": "bruno", "created_at": "2001-01-01T00:00:00.000000Z"}],
        ],
    )
    def test_stand_once_each(self, anna: Member, again: list[Any]) -> None:
        before = make_contact(anna, notes=["First", "Second"])

        updated = _updated(anna, {"notes": again})

        assert updated["notes"] == before["notes"]

    @pytest.mark.parametrize("fewer", [None, [], ["Second"]])
    def test_are_never_removed(self, anna: Member, fewer: list[str] | None) -> None:
        before = make_contact(anna, notes=["First", "Second"])

        updated = _updated(anna, {"notes": fewer})

        assert updated["notes"] == before["notes"]

    def test_may_grow_to_a_thousand(self, anna: Member) -> None:
        notes = [f"note {number}" for number in range(1_000)]
        make_contact(anna, notes=notes[:999])

        updated = _updated(anna, {"notes": notes[999:]})

        assert [note["text"] for note in updated["notes"]] == notes

    def test_may_be_a_thousand_that_are_sent_back(self, anna: Member) -> None:
        before = make_contact(anna, notes=[f"note {number}" for number in range(1_000)])

        updated = _updated(anna, before)

        assert updated["notes"] == before["notes"]

    @pytest.mark.parametrize("more", [["one more"], [{"text": "one more"}], ["note 0", "one more"]])
    def test_may_not_grow_over_a_thousand(self, anna: Member, more: list[Any]) -> None:
        before = make_contact(anna, notes=[f"note {number}" for number in range(1_000)])

        response = _update(anna, {"notes": more, "city": "Lund"})

        assert response.status_code == 422
        assert list(errors(response)) == ["contact.notes"]
        assert _found(anna) == before


class TestFaultsOfAnUpdate:
    """PUT contacts/{contact_uid}: 422, with an entry for each fault."""

    @pytest.mark.parametrize(("field", "value", "sentence"), WRONG)
    def test_name_the_field(self, anna: Member, field: str, value: object, sentence: str) -> None:
        before = make_contact(anna)

        response = _update(anna, {field: value})

        assert response.status_code == 422
        assert response.json() == faults(**{field: sentence})
        assert _found(anna) == before

    @pytest.mark.parametrize(("notes", "place", "sentence"), WRONG_NOTES)
    def test_name_the_place_in_the_notes(self, anna: Member, notes: object, place: str, sentence: str) -> None:
        make_contact(anna)

        response = _update(anna, {"notes": notes})

        assert response.status_code == 422
        assert response.json() == faults(**{place: sentence})

    @pytest.mark.parametrize(("text", "sentence"), UNSTORABLE)
    @pytest.mark.parametrize("field", [*TEXT_FIELDS, "contact_uid", "full_name", "unknown"])
    def test_are_of_the_field_that_holds_nul_or_a_surrogate(
        self, anna: Member, field: str, text: str, sentence: str
    ) -> None:
        make_contact(anna)

        response = _update(anna, {field: text})

        assert response.status_code == 422
        assert response.json() == faults(**{field: sentence})

    @pytest.mark.parametrize("other", ["K-2", "k-1", "K-1-1", "K\u20111", "find"])
    def test_are_of_the_uid_that_differs_from_the_path(self, anna: Member, other: str) -> None:
        before = make_contact(anna)

        response = _update(anna, {"contact_uid": other, "city": "Lund"})

        assert response.status_code == 422
        assert list(errors(response)) == ["contact.contact_uid"]
        assert _found(anna) == before

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            (None, "must be a String"),
            (1, "must be a String"),
            (["K-1"], "must be a String"),
            ("", "must not be empty"),
            (" ", "must not be empty"),
            ("x" * 256, "must not be longer than 255 characters"),
            ("K-1\n", "must not hold control characters"),
        ],
    )
    def test_are_of_the_uid_that_is_none(self, anna: Member, given: object, sentence: str) -> None:
        make_contact(anna)

        response = _update(anna, {"contact_uid": given})

        assert response.status_code == 422
        assert response.json() == faults(contact_uid=sentence)

    def test_are_all_told_at_once(self, anna: Member) -> None:
        make_contact(anna)
        contact = {
            "contact_uid": "K-2",
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
        }

        response = _update(anna, contact)

        listed = errors(response)
        assert listed.keys() == {
            *(f"contact.{field}" for field in contact.keys() - {"notes"}),
            "contact.notes[1]",
            "contact.notes[2].text",
        }
        assert all(len(sentences) == 1 for sentences in listed.values())

    def test_count_another_uid_among_them(self, anna: Member) -> None:
        make_contact(anna)

        response = _update(anna, {"contact_uid": "K-2", "gender": "none"})

        assert errors(response).keys() == {"contact.contact_uid", "contact.gender"}

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            (None, "is required: an Object"),
            ([], "is required: an Object"),
            ("contact", "is required: an Object"),
            ({}, "is required: an Object"),
            ({"last_name": "Else"}, "is required: an Object"),
            ({"contact": None}, "must be an Object"),
            ({"contact": []}, "must be an Object"),
            ({"contact": "K-1"}, "must be an Object"),
            ({"contact": 7}, "must be an Object"),
        ],
    )
    def test_are_of_the_contact_where_it_is_missing_or_wrong(self, anna: Member, body: object, sentence: str) -> None:
        make_contact(anna)

        response = anna.request("PUT", "/contacts/K-1", content=json.dumps(body).encode())

        assert response.status_code == 422
        assert response.json() == {
            "message": f"contact {sentence}",
            "errors": {"contact": [f"contact {sentence}"]},
        }


class TestRefusedUpdate:
    """PUT contacts/{contact_uid}: other refusals."""

    @pytest.mark.parametrize("path", ["K-2", "k-1", "K-1%00", "%FF", "%ED%A0%80", "%20", "x" * 300, "K-1%0A"])
    def test_is_404_where_no_contact_has_the_uid(self, anna: Member, path: str) -> None:
        before = make_contact(anna)

        response = _update(anna, {"city": "Lund"}, path=path)

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}
        assert anna.get("/contacts").json()["contacts"] == [before]

    def test_is_404_where_only_another_instance_has_the_uid(self, anna: Member, bruno: Member) -> None:
        other = make_contact(bruno)

        response = _update(anna, {"city": "Lund"})

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}
        assert _found(bruno) == other

    def test_is_404_where_only_a_product_has_the_number(self, anna: Member) -> None:
        make_product(anna, "K-1")

        response = _update(anna, {"city": "Lund"})

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    @pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
    def test_is_400_where_the_body_is_no_json(self, anna: Member, body: bytes) -> None:
        before = make_contact(anna)

        response = anna.request("PUT", "/contacts/K-1", content=body)

        assert response.status_code == 400
        assert list(response.json()) == ["message"]
        assert _found(anna) == before

    def test_is_413_where_the_body_is_too_large(self, anna: Member) -> None:
        before = make_contact(anna)

        response = anna.request("PUT", "/contacts/K-1", content=b'{"contact": {}}'.ljust(1024 * 1024 + 1))

        assert response.status_code == 413
        assert response.json() == {"message": "The body must not be larger than 1048576 bytes."}
        assert _found(anna) == before

    @pytest.mark.parametrize("path", ["K-1", "K-2"])
    def test_is_403_without_the_role(self, anna: Member, no_role: Member, path: str) -> None:
        before = make_contact(anna)

        response = _update(no_role, {"city": "Lund"}, path=path)

        assert response.status_code == 403
        assert response.json() == {"message": "This action needs the role api-user."}
        assert _found(anna) == before

    def test_is_401_without_a_token(self, anna: Member) -> None:
        before = make_contact(anna)

        response = anna.service.request("PUT", f"/api/{anna.prefix}/v1/contacts/K-1", content=b"{")

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert list(response.json()) == ["message"]
        assert _found(anna) == before

    def test_is_403_with_a_token_of_another_instance(self, anna: Member, bruno: Member) -> None:
        before = make_contact(anna)

        response = anna.service.request(
            "PUT",
            f"/api/{anna.prefix}/v1/contacts/K-1",
            json={"contact": {"city": "Lund"}},
            headers={"Authorization": f"Bearer {bruno.token}"},
        )

        assert response.status_code == 403
        assert response.json() == {"message": "This token is not for this prefix."}
        assert _found(anna) == before

    @pytest.mark.parametrize("path", ["", "/", "/K-1/"])
    def test_is_404_or_405_on_any_other_path(self, anna: Member, path: str) -> None:
        make_contact(anna)

        response = anna.put(f"/contacts{path}", {"contact": {"city": "Lund"}})

        assert response.status_code == (405 if path == "" else 404)
        assert list(response.json()) == ["message"]
