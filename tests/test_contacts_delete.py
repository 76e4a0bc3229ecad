"""DELETE contacts/{contact_uid}: gone for the interface, and its uid free; its history is `test_history.py`'s."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.cast import Member, make_contact, make_product
from tests.test_contacts_create import UIDS, total


class TestDeleteContact:
    """DELETE contacts/{contact_uid}."""

    def test_answers_with_nothing(self, anna: Member) -> None:
        make_contact(anna)

        response = anna.delete("/contacts/K-1")

        assert response.status_code == 204
        assert response.content == b""
        assert "content-type" not in response.headers

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("GET", "/contacts/K-1", None),
            ("POST", "/contacts/find", {"contact_uid": "K-1"}),
            ("PUT", "/contacts/K-1", {"contact": {"city": "Lund"}}),
            ("DELETE", "/contacts/K-1", None),
        ],
    )
    def test_leaves_nothing_to_be_found(self, anna: Member, method: str, path: str, body: object) -> None:
        make_contact(anna)
        anna.delete("/contacts/K-1")

        response = anna.request(method, path, json=body)

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}

    @pytest.mark.parametrize("query", [{}, {"search": "K-1"}, {"timestamp": "2001-01-01"}, {"is_watchlist": "true"}])
    @pytest.mark.parametrize("is_archived", ["false", "true"])
    def test_takes_it_off_the_list_and_the_total(self, anna: Member, is_archived: str, query: dict[str, str]) -> None:
        make_contact(anna, is_watchlist=True, is_archived=is_archived == "true")

        anna.delete("/contacts/K-1")

        page = anna.get("/contacts", is_archived=is_archived, **query).json()
        assert page == {"contacts": [], "current_page": 1, "per_page": 30, "total": 0, "last_page": 1}

    def test_frees_the_uid_for_another_contact(self, anna: Member) -> None:
        first = make_contact(anna, city="Lund", notes=["A note"], is_watchlist=True)
        anna.delete("/contacts/K-1")

        second = make_contact(anna)

        assert second["id"] > first["id"]
        assert (second["city"], second["notes"], second["is_watchlist"]) == ("", [], False)
        assert second["updated_at"] > first["updated_at"]
        assert total(anna) == 1

    def test_may_be_done_again_and_again(self, anna: Member) -> None:
        ids = []
        for _ in range(3):
            ids.append(make_contact(anna)["id"])
            anna.delete("/contacts/K-1")

        assert ids == sorted(set(ids))
        assert total(anna) == 0

    def test_leaves_the_others(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)
        others = [make_contact(anna, uid) for uid in ("k-1", "K-10", "K-%", "K_1")]
        foreign = make_contact(bruno)

        anna.delete("/contacts/K-1")

        assert anna.get("/contacts").json()["contacts"] == others
        assert bruno.get("/contacts").json()["contacts"] == [foreign]

    @pytest.mark.parametrize("path", ["K-1", "%4B-1", "%20K-1%20", "K%2d1"])
    def test_takes_the_uid_in_any_spelling(self, anna: Member, path: str) -> None:
        make_contact(anna)

        response = anna.delete(f"/contacts/{path}")

        assert response.status_code == 204
        assert total(anna) == 0

    @pytest.mark.parametrize("contact_uid", UIDS)
    def test_reaches_a_contact_of_any_uid(self, anna: Member, contact_uid: str) -> None:
        make_contact(anna, contact_uid)

        response = anna.delete(f"/contacts/{quote(contact_uid, safe='')}")

        assert response.status_code == 204
        assert total(anna) == 0

    def test_succeeds_for_one_of_many_at_once(self, anna: Member) -> None:
        make_contact(anna)

        with ThreadPoolExecutor(8) as threads:
            responses = list(threads.map(lambda _: anna.delete("/contacts/K-1"), range(8)))

        assert sorted(response.status_code for response in responses) == [204] + [404] * 7
        assert total(anna) == 0

    @pytest.mark.parametrize(
        "path", ["K-2", "k-1", "K-10", "K-1%00", "K-1%0A", "%FF", "%ED%A0%80", "%20", "x" * 256, "%25", "K_1"]
    )
    def test_is_404_where_no_contact_has_the_uid(self, anna: Member, path: str) -> None:
        contact = make_contact(anna)

        response = anna.delete(f"/contacts/{path}")

        assert response.status_code == 404
        assert response.json() == {"message": "Contact not found"}
        assert anna.get("/contacts").json()["contacts"] == [contact]

    def test_is_404_where_only_another_instance_has_the_uid(self, anna: Member, bruno: Member) -> None:
        foreign = make_contact(bruno)

        response = anna.delete("/contacts/K-1")

        assert response.status_code == 404
        assert bruno.get("/contacts").json()["contacts"] == [foreign]

    def test_is_404_where_only_a_product_has_the_number(self, anna: Member) -> None:
        make_product(anna, "K-1")

        response = anna.delete("/contacts/K-1")

        assert response.status_code == 404
        assert anna.post("/products/find", {"article_number": "K-1"}).status_code == 200

    @pytest.mark.parametrize("path", ["", "/", "/K-1/"])
    def test_is_404_or_405_on_any_other_path(self, anna: Member, path: str) -> None:
        make_contact(anna)

        response = anna.delete(f"/contacts{path}")

        assert response.status_code == (405 if path == "" else 404)
        assert list(response.json()) == ["message"]
        assert total(anna) == 1

    @pytest.mark.parametrize("path", ["K-1", "K-2"])
    def test_is_403_without_the_role(self, anna: Member, no_role: Member, path: str) -> None:
        make_contact(anna)

        response = no_role.delete(f"/contacts/{path}")

        assert response.status_code == 403
        assert response.json() == {"message": "This action needs the role api-user."}
        assert total(anna) == 1

    def test_is_401_without_a_token(self, anna: Member) -> None:
        make_contact(anna)

        response = anna.service.request("DELETE", f"/api/{anna.prefix}/v1/contacts/K-1")

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert total(anna) == 1

    def test_is_403_with_a_token_of_another_instance(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)

        response = anna.service.request(
            "DELETE",
            f"/api/{anna.prefix}/v1/contacts/K-1",
            headers={"Authorization": f"Bearer {bruno.token}"},
        )

        assert response.status_code == 403
        assert response.json() == {"message": "This token is not for this prefix."}
        assert total(anna) == 1
