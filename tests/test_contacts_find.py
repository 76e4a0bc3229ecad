"""POST contacts/find and GET contacts/{contact_uid}: one contact by its uid, however that is spelled."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest

from tests.cast import Member, make_contact, make_product
from tests.test_contacts_create import FULL, NOT_JSON, UIDS


def _everything_encoded(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _encoded(text: str) -> str:
    return quote(text, safe="")


def _in_lower_case(text: str) -> str:
    return "".join(f"%{byte:02x}" if quote(chr(byte), safe="") != chr(byte) else chr(byte) for byte in text.encode())


def _between_blanks(text: str) -> str:
    return f"%20{_encoded(text)}%C2%A0"


def statements(member: Member, ask: Callable[[], object]) -> float:
    """Return how many statements the service reads with to answer a request, once it has looked the token up."""

    def read_so_far() -> float:
        metrics = member.service.request("GET", "/metrics").text
        name = 'stammdaten_database_seconds_count{door="read"} '
        return float(next(line for line in metrics.splitlines() if line.startswith(name)).removeprefix(name))

    counted = []
    # The token is remembered for a moment only: the fewest of a few are those without it.
    for _ in range(3):
        before = read_so_far()
        ask()
        counted.append(read_so_far() - before)
    return min(counted)


class TestFindContact:
    """POST contacts/find."""

    @pytest.mark.parametrize("fields", [{}, {**FULL, "notes": ["A note"]}])
    def test_returns_what_create_returned(self, anna: Member, fields: dict[str, Any]) -> None:
        created = make_contact(anna, **fields)

        response = anna.post("/contacts/find", {"contact_uid": "K-1"})

        assert response.status_code == 200
        assert response.json() == {"contact": created}

    @pytest.mark.parametrize("spelled", ["K-1", " K-1", "K-1 ", "\u3000K-1\u00a0", " " * 300 + "K-1"])
    def test_trims_the_uid(self, anna: Member, spelled: str) -> None:
        created = make_contact(anna)

        response = anna.post("/contacts/find", {"contact_uid": spelled})

        assert response.json() == {"contact": created}

    def test_finds_the_one_among_many(self, anna: Member) -> None:
        contacts = {uid: make_contact(anna, uid) for uid in ("K-1", "k-1", "K-10", "K-", "1", "%", "K%1", "K_1")}

        found = {uid: anna.post("/contacts/find", {"contact_uid": uid}).json()["contact"] for uid in contacts}

        assert found == contacts

    def test_ignores_other_members(self, anna: Member) -> None:
        created = make_contact(anna)

        response = anna.post("/contacts/find", {"contact_uid": "K-1", "id": 7, "contact": {"contact_uid": "K-2"}})

        assert response.json() == {"contact": created}

    def test_finds_an_archived_contact(self, anna: Member) -> None:
        created = make_contact(anna, is_archived=True)

        response = anna.post("/contacts/find", {"contact_uid": "K-1"})

        assert response.json() == {"contact": created}

    @pytest.mark.parametrize("contact_uid", ["K-2", "k-1", "K-10", "K", "K-%", "K_1", "%", "1", "find", "."])
    def test_is_404_where_no_contact_has_the_uid(self, anna: Member, contact_uid: str) -> None:
        make_contact(anna)

        response = anna.post("/contacts/find", {"contact_uid": contact_uid})

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    def test_is_404_where_only_another_instance_has_the_uid(self, anna: Member, bruno: Member) -> None:
        make_contact(bruno)

        response = anna.post("/contacts/find", {"contact_uid": "K-1"})

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    def test_is_404_where_only_a_product_has_the_number(self, anna: Member) -> None:
        make_product(anna, "K-1")

        response = anna.post("/contacts/find", {"contact_uid": "K-1"})

        assert response.status_code == 404

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            (None, "must be a String"),
            (1, "must be a String"),
            (True, "must be a String"),
            (["K-1"], "must be a String"),
            ({"contact_uid": "K-1"}, "must be a String"),
            ("", "must not be empty"),
            ("\u3000 ", "must not be empty"),
            ("x" * 256, "must not be longer than 255 characters"),
            ("x" * 100_000, "must not be longer than 255 characters"),
            ("K-1\n", "must not hold control characters"),
            ("\tK-1", "must not hold control characters"),
            ("a\0", "must not hold NUL characters"),
            ("\ud800", "must not hold lone surrogates"),
            (2**64, f"must be within ±{2**53}"),
        ],
    )
    def test_names_the_fault_of_the_uid(self, anna: Member, given: object, sentence: str) -> None:
        body = json.dumps({"contact_uid": given}).encode()

        response = anna.request("POST", "/contacts/find", content=body)

        assert response.status_code == 422
        assert response.json() == {
            "message": f"contact_uid {sentence}",
            "errors": {"contact_uid": [f"contact_uid {sentence}"]},
        }

    @pytest.mark.parametrize("body", [None, [], ["K-1"], "K-1", 1, {}, {"contact": {"contact_uid": "K-1"}}])
    def test_asks_for_the_uid(self, anna: Member, body: object) -> None:
        response = anna.request("POST", "/contacts/find", content=json.dumps(body).encode())

        assert response.status_code == 422
        assert response.json() == {
            "message": "contact_uid is required",
            "errors": {"contact_uid": ["contact_uid is required"]},
        }

    @pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
    def test_is_400_where_the_body_is_no_json(self, anna: Member, body: bytes) -> None:
        response = anna.request("POST", "/contacts/find", content=body)

        assert response.status_code == 400
        assert list(response.json()) == ["message"]

    def test_is_413_where_the_body_is_too_large(self, anna: Member) -> None:
        body = b'{"contact_uid": "K-1"}'.ljust(1024 * 1024 + 1)

        response = anna.request("POST", "/contacts/find", content=body)

        assert response.status_code == 413
        assert list(response.json()) == ["message"]

    def test_reads_with_one_statement(self, anna: Member) -> None:
        make_contact(anna)

        count = statements(anna, lambda: anna.post("/contacts/find", {"contact_uid": "K-1"}))

        assert count == 1


class TestShowContact:
    """GET contacts/{contact_uid}."""

    @pytest.mark.parametrize("fields", [{}, {**FULL, "notes": ["A note"]}])
    def test_returns_what_create_returned(self, anna: Member, fields: dict[str, Any]) -> None:
        created = make_contact(anna, **fields)

        response = anna.get("/contacts/K-1")

        assert response.status_code == 200
        assert response.json() == {"contact": created}

    @pytest.mark.parametrize("spelled", [_encoded, _in_lower_case, _everything_encoded, _between_blanks])
    @pytest.mark.parametrize("contact_uid", UIDS)
    def test_reaches_any_uid_however_it_is_encoded(self, anna: Member, contact_uid: str, spelled: Any) -> None:
        created = make_contact(anna, contact_uid)

        response = anna.get(f"/contacts/{spelled(contact_uid)}")

        assert response.status_code == 200
        assert response.json() == {"contact": created}

    @pytest.mark.parametrize("contact_uid", ["a;b=c,d", "(x)!*'", "a:b@c", "$1&2", "~-._", "a+b"])
    def test_takes_as_they_are_the_characters_that_a_path_may_hold(self, anna: Member, contact_uid: str) -> None:
        created = make_contact(anna, contact_uid)

        response = anna.get(f"/contacts/{contact_uid}")

        assert response.json() == {"contact": created}

    def test_decodes_once(self, anna: Member) -> None:
        literal, decoded = make_contact(anna, "a%2Fb"), make_contact(anna, "a/b")

        response = anna.get("/contacts/a%252Fb")

        assert response.json() == {"contact": literal}
        assert anna.get("/contacts/a%2Fb").json() == {"contact": decoded}

    @pytest.mark.parametrize(
        "path",
        [
            "K-2",
            "k-1",
            "K-10",
            "K",
            "K-1%",
            "K%2D1%25",
            "K_1",
            "K-1%00",
            "%00",
            "%FF",
            "%C3",
            "K-1%C3",
            "%ED%A0%80",
            "%F4%90%80%80",
            "%20",
            "%C2%A0",
            "a+b",
            "x" * 256,
            "x" * 511,
            "%E9%8D%B5" * 256,
            "x" * 50_000,
        ],
    )
    def test_is_404_where_no_contact_has_the_uid(self, anna: Member, path: str) -> None:
        make_contact(anna)
        make_contact(anna, "a b")

        response = anna.get(f"/contacts/{path}")

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    @pytest.mark.parametrize("path", ["K-1%0A", "%0AK-1", "%09K-1", "K-1%1F", "K-1%C2%85"])
    def test_takes_no_control_character_for_a_blank(self, anna: Member, path: str) -> None:
        make_contact(anna)

        response = anna.get(f"/contacts/{path}")

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    @pytest.mark.parametrize("path", ["", "K-1/", "K-1/x", "a/b", "/K-1", "K-1/notes"])
    def test_is_404_on_a_path_that_is_none(self, anna: Member, path: str) -> None:
        make_contact(anna)
        make_contact(anna, "a/b")

        response = anna.get(f"/contacts/{path}")

        assert response.status_code == 404
        assert list(response.json()) == ["message"]

    def test_is_404_where_only_another_instance_has_the_uid(self, anna: Member, bruno: Member) -> None:
        make_contact(bruno)

        response = anna.get("/contacts/K-1")

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    def test_reads_with_one_statement(self, anna: Member) -> None:
        make_contact(anna)

        count = statements(anna, lambda: anna.get("/contacts/K-1"))

        assert count == 1


def _by_post(service: Any, prefix: str, contact_uid: str, **given: Any) -> httpx.Response:
    response: httpx.Response = service.request(
        "POST", f"/api/{prefix}/v1/contacts/find", json={"contact_uid": contact_uid}, **given
    )
    return response


def _by_get(service: Any, prefix: str, contact_uid: str, **given: Any) -> httpx.Response:
    response: httpx.Response = service.request("GET", f"/api/{prefix}/v1/contacts/{contact_uid}", **given)
    return response


@pytest.mark.parametrize("find", [_by_post, _by_get])
@pytest.mark.parametrize("contact_uid", ["K-1", "K-2"])
class TestWhoMayFind:
    """Both ways to find: the answer does not tell whether there is such a contact."""

    def test_is_not_told_without_the_role(self, anna: Member, no_role: Member, find: Any, contact_uid: str) -> None:
        make_contact(anna)

        response = find(anna.service, anna.prefix, contact_uid, headers={"Authorization": f"Bearer {no_role.token}"})

        assert response.status_code == 403
        assert response.json() == {"message": "This action needs the role api-user."}

    def test_is_not_told_to_an_auditor(self, anna: Member, auditor: Member, find: Any, contact_uid: str) -> None:
        make_contact(anna)

        response = find(anna.service, anna.prefix, contact_uid, headers={"Authorization": f"Bearer {auditor.token}"})

        assert response.status_code == 403

    def test_is_not_told_without_a_token(self, anna: Member, find: Any, contact_uid: str) -> None:
        make_contact(anna)

        response = find(anna.service, anna.prefix, contact_uid)

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert list(response.json()) == ["message"]

    def test_is_not_told_with_a_token_of_another_instance(
        self, anna: Member, bruno: Member, find: Any, contact_uid: str
    ) -> None:
        make_contact(anna)

        response = find(anna.service, anna.prefix, contact_uid, headers={"Authorization": f"Bearer {bruno.token}"})

        assert response.status_code == 403
        assert response.json() == {"message": "This token is not for this prefix."}
