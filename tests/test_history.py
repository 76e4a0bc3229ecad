"""What happened: history records of contacts and actions on products, as the commands print them.

The interface shows neither; `contact history`, `contact purge` and `product history` are the only doors to them.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stammdaten.auth.callers import Caller
from stammdaten.contacts.operations import ContactChange, create_contacts, update_contacts
from stammdaten.contacts.shapes import Given
from tests.cast import Member, found_product, make_contact, make_list, make_product
from tests.test_commands import MANUAL, done, refused
from tests.test_contacts_create import FULL, UIDS

NO_CONTACT = "There is no history under this contact_uid."
NO_DELETED = "There is no history of a deleted contact under this contact_uid."


def _records(member: Member, contact_uid: str = "K-1", *, prefix: str = "") -> list[dict[str, Any]]:
    """Return the history records under a uid, newest first."""
    words = ("contact", "history", "--prefix", prefix or member.prefix, "--", contact_uid)
    return [json.loads(line) for line in done(member.service.settings, *words)]


def _categories(member: Member, contact_uid: str = "K-1") -> list[str]:
    return [record["category"] for record in _records(member, contact_uid)]


def _update(member: Member, contact_uid: str = "K-1", **fields: object) -> dict[str, Any]:
    response = member.put(f"/contacts/{contact_uid}", {"contact": fields})
    assert response.status_code == 200, response.text
    updated: dict[str, Any] = response.json()["contact"]
    return updated


def _actions(member: Member, article_number: str = "A-1") -> list[dict[str, Any]]:
    """Return the actions on a product, newest first."""
    words = ("product", "history", "--prefix", member.prefix, article_number)
    return [json.loads(line) for line in done(member.service.settings, *words)]


def _product(member: Member, verb: str, *more: str, given: str = "") -> list[str]:
    """Do to the product A-1 what an operator can."""
    return done(member.service.settings, "product", verb, "--prefix", member.prefix, "A-1", *more, given=given)


def _update_product(member: Member, **fields: object) -> int:
    body = {"article_number": "A-1", "product": {"designation": "Hex bolt M8", **fields}}
    response = member.put("/products", body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


class TestHistoryOfAContact:
    """`contact history`: what is recorded."""

    def test_begins_with_the_creation(self, anna: Member) -> None:
        created = make_contact(anna, **FULL, notes=["A note"])

        records = _records(anna)

        assert records == [
            {
                "category": "created",
                "text": "Contact Created",
                "user_name": "anna",
                "at": created["updated_at"],
                "contact": created,
            }
        ]

    @pytest.mark.parametrize(
        "fields",
        [{"city": "Lund"}, {"is_watchlist": True}, {"is_archived": True}, {"notes": ["A note"]}, {}, {"status": "red"}],
    )
    def test_goes_on_with_each_update(self, anna: Member, fields: dict[str, Any]) -> None:
        created = make_contact(anna)
        updated = _update(anna, **fields)

        newest, oldest = _records(anna)

        assert newest == {
            "category": "updated",
            "text": "Contact Updated",
            "user_name": "anna",
            "at": updated["updated_at"],
            "contact": updated,
        }
        assert oldest["contact"] == created

    def test_goes_on_with_an_update_that_changes_nothing(self, anna: Member) -> None:
        created = make_contact(anna)
        for _ in range(2):
            _update(anna, **created)

        records = _records(anna)

        assert [record["text"] for record in records] == ["Contact Updated", "Contact Updated", "Contact Created"]

    def test_ends_with_the_deletion(self, anna: Member) -> None:
        created = make_contact(anna)
        anna.delete("/contacts/K-1")

        newest, oldest = _records(anna)

        assert newest == {
            "category": "deleted",
            "text": "Contact Deleted",
            "user_name": "anna",
            "at": newest["at"],
            "contact": created,
        }
        assert newest["at"] > oldest["at"] == created["updated_at"]

    def test_names_who_acted(self, anna: Member) -> None:
        carla = anna.service.colleague(anna, "carla", roles=["api-user"])
        make_contact(anna)
        _update(carla, city="Lund")
        anna.delete("/contacts/K-1")

        records = _records(anna)

        assert [(record["category"], record["user_name"]) for record in records] == [
            ("deleted", "anna"),
            ("updated", "carla"),
            ("created", "anna"),
        ]
        assert [record["contact"]["updated_by"] for record in records] == ["carla", "carla", "anna"]

    def test_keeps_each_contact_as_it_was(self, anna: Member) -> None:
        kept = [make_contact(anna), *(_update(anna, city=city) for city in ("Lund", "Malmö", ""))]

        records = _records(anna)

        assert [record["contact"] for record in records] == kept[::-1]

    def test_has_its_members_in_the_order_of_the_design(self, anna: Member) -> None:
        make_contact(anna)

        [line] = done(anna.service.settings, "contact", "history", "--prefix", anna.prefix, "K-1")

        assert list(json.loads(line)) == ["category", "text", "user_name", "at", "contact"]

    def test_is_one_record_a_line_in_any_script(self, anna: Member) -> None:
        make_contact(anna, comment="one\ntwo\u2028three\x85four", city="北京 „Ü“")
        _update(anna, notes=["x" * 4_000])

        newest, oldest = done(anna.service.settings, "contact", "history", "--prefix", anna.prefix, "K-1")

        assert "北京 „Ü“" in oldest
        assert json.loads(oldest)["contact"]["comment"] == "one\ntwo\u2028three\x85four"
        assert json.loads(newest)["contact"]["notes"][0]["text"] == "x" * 4_000

    @pytest.mark.parametrize("contact_uid", [*UIDS, ".", ".."])
    def test_is_found_by_any_uid(self, anna: Member, contact_uid: str) -> None:
        created = make_contact(anna, contact_uid)

        records = _records(anna, contact_uid)

        assert [record["contact"] for record in records] == [created]

    def test_is_found_by_a_uid_between_blanks(self, anna: Member) -> None:
        make_contact(anna)

        records = _records(anna, " K-1\u00a0")

        assert len(records) == 1

    def test_goes_on_where_a_uid_is_created_again(self, anna: Member) -> None:
        first = make_contact(anna)
        anna.delete("/contacts/K-1")
        second = make_contact(anna)
        _update(anna)

        records = _records(anna)

        assert [(record["category"], record["contact"]["id"]) for record in records] == [
            ("updated", second["id"]),
            ("created", second["id"]),
            ("deleted", first["id"]),
            ("created", first["id"]),
        ]

    @pytest.mark.parametrize("contact_uid", ["K-2", "k-1", "K-", "%", "", "K_1"])
    def test_is_that_of_one_uid(self, anna: Member, contact_uid: str) -> None:
        make_contact(anna)

        said = refused(anna.service.settings, "contact", "history", "--prefix", anna.prefix, contact_uid)

        assert said == NO_CONTACT

    def test_is_that_of_one_instance(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)
        foreign = make_contact(bruno)

        said = refused(anna.service.settings, "contact", "history", "--prefix", f"{anna.prefix}-test", "K-1")

        assert said == NO_CONTACT
        assert [record["contact"] for record in _records(bruno)] == [foreign]

    @pytest.mark.parametrize(
        ("method", "path", "body", "status"),
        [
            ("PUT", "/contacts/K-1", {"contact": {"gender": "none"}}, 422),
            ("PUT", "/contacts/K-1", {"contact": {"contact_uid": "K-2"}}, 422),
            ("PUT", "/contacts/K-1", {}, 422),
            ("PUT", "/contacts/K-2", {"contact": {}}, 404),
            ("POST", "/contacts", {"contact": {"contact_uid": "K-1", "last_name": "Else"}}, 400),
            ("POST", "/contacts", {"contact": {"contact_uid": "K-1"}}, 422),
            ("DELETE", "/contacts/K-2", None, 404),
            ("GET", "/contacts/K-1", None, 200),
            ("POST", "/contacts/find", {"contact_uid": "K-1"}, 200),
        ],
    )
    def test_has_no_record_of_what_changed_nothing(
        self, anna: Member, method: str, path: str, body: object, status: int
    ) -> None:
        make_contact(anna)

        response = anna.request(method, path, json=body)

        assert response.status_code == status
        assert _categories(anna) == ["created"]
        assert refused(anna.service.settings, "contact", "history", "--prefix", anna.prefix, "K-2") == NO_CONTACT

    def test_has_no_record_of_a_note_too_many(self, anna: Member) -> None:
        make_contact(anna, notes=[f"note {number}" for number in range(1_000)])

        response = anna.put("/contacts/K-1", {"contact": {"notes": ["one more"]}})

        assert response.status_code == 422
        assert _categories(anna) == ["created"]

    def test_has_a_record_of_each_of_many_at_once(self, anna: Member) -> None:
        make_contact(anna)

        with ThreadPoolExecutor(8) as threads:
            updates = list(threads.map(lambda number: _update(anna, city=f"City {number}"), range(24)))

        records = _records(anna)
        assert [record["at"] for record in records[:-1]] == sorted(
            (each["updated_at"] for each in updates), reverse=True
        )
        assert sorted(record["contact"]["city"] for record in records[:-1]) == sorted(each["city"] for each in updates)


def _caller(member: Member) -> Caller:
    return Caller(member.instance_id, member.prefix, 1, member.name, frozenset())


def _change(member: Member, contact_uid: str, **values: Any) -> ContactChange:
    return ContactChange(_caller(member), Given(contact_uid=contact_uid, values=values, notes=[]))


def _update_all(member: Member, rows: list[ContactChange]) -> None:
    """Update contacts in one batch."""
    member.service.write(member.instance_id, lambda write: update_contacts(write, rows))


class TestLimitOfAHistory:
    """At most 100 records are kept of each contact; the oldest goes."""

    @pytest.mark.parametrize("updates", [98, 99, 100, 105, 250])
    def test_keeps_the_newest_hundred(self, anna: Member, updates: int) -> None:
        cities = [str(number) for number in range(updates + 1)]
        make_contact(anna, city=cities[0])

        for city in cities[1:]:
            anna.submit(update_contacts, _change(anna, "K-1", city=city))

        assert [record["contact"]["city"] for record in _records(anna)] == cities[-100:][::-1]

    def test_keeps_the_newest_hundred_of_updates_over_http(self, anna: Member) -> None:
        make_contact(anna)

        stamps = [_update(anna, comment=str(number))["updated_at"] for number in range(105)]

        records = _records(anna)
        assert [record["at"] for record in records] == stamps[:4:-1]
        assert [record["contact"]["comment"] for record in records] == [str(number) for number in range(104, 4, -1)]

    def test_keeps_the_newest_hundred_of_a_batch(self, anna: Member) -> None:
        make_contact(anna)
        rows = [_change(anna, "K-1", city=str(number)) for number in range(130)]

        _update_all(anna, rows)

        cities = [record["contact"]["city"] for record in _records(anna)]
        assert cities == [str(number) for number in range(129, 29, -1)]

    def test_counts_each_contact_alone(self, anna: Member, bruno: Member) -> None:
        contacts = [(anna, "K-1"), (anna, "K-2"), (bruno, "K-1")]
        for member, contact_uid in contacts:
            make_contact(member, contact_uid)
        rows = [_change(anna, "K-1", city=str(number)) for number in range(120)]

        _update_all(anna, rows)

        kept = [len(_records(member, contact_uid)) for member, contact_uid in contacts]
        assert kept == [100, 1, 1]

    def test_counts_several_contacts_of_a_batch_alone(self, anna: Member) -> None:
        uids = [f"K-{number}" for number in range(5)]
        created = [_change(anna, uid, last_name="L") for uid in uids]
        rows = [_change(anna, uid, city=str(number)) for number in range(110) for uid in uids]
        anna.service.write(anna.instance_id, lambda write: create_contacts(write, created))

        _update_all(anna, rows)

        for uid in uids:
            cities = [record["contact"]["city"] for record in _records(anna, uid)]
            assert cities == [str(number) for number in range(109, 9, -1)]

    def test_counts_the_contact_that_had_the_uid_before_alone(self, anna: Member) -> None:
        for _ in range(2):
            make_contact(anna)
            rows = [_change(anna, "K-1", city=str(number)) for number in range(120)]
            _update_all(anna, rows)
            anna.delete("/contacts/K-1")

        categories = _categories(anna)

        assert categories == ["deleted", *["updated"] * 99] * 2


class TestPurge:
    """`contact purge`: the history of deleted contacts goes, for good."""

    def test_removes_the_history_of_a_deleted_contact(self, anna: Member) -> None:
        make_contact(anna)
        _update(anna)
        anna.delete("/contacts/K-1")

        lines = done(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, "K-1")

        assert lines == ["3"]
        assert refused(anna.service.settings, "contact", "history", "--prefix", anna.prefix, "K-1") == NO_CONTACT

    def test_keeps_the_history_of_the_contact_that_has_the_uid_now(self, anna: Member) -> None:
        for _ in range(2):
            make_contact(anna)
            anna.delete("/contacts/K-1")
        living = make_contact(anna)
        _update(anna)

        lines = done(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, " K-1 ")

        assert lines == ["4"]
        assert {record["contact"]["id"] for record in _records(anna)} == {living["id"]}
        assert _categories(anna) == ["updated", "created"]
        assert anna.get("/contacts/K-1").status_code == 200

    def test_keeps_the_history_of_others(self, anna: Member, bruno: Member) -> None:
        for member, contact_uid in ((anna, "K-1"), (anna, "k-1"), (anna, "K-10"), (bruno, "K-1")):
            make_contact(member, contact_uid)
            member.delete(f"/contacts/{contact_uid}")

        done(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, "K-1")

        kept = [_categories(anna, "k-1"), _categories(anna, "K-10"), _categories(bruno)]
        assert kept == [["deleted", "created"]] * 3

    @pytest.mark.parametrize("contact_uid", ["K-1", "K-2", "%", ""])
    def test_is_refused_where_no_deleted_contact_had_the_uid(self, anna: Member, contact_uid: str) -> None:
        make_contact(anna)

        said = refused(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, contact_uid)

        assert said == NO_DELETED
        assert _categories(anna) == ["created"]

    def test_is_refused_the_second_time(self, anna: Member) -> None:
        make_contact(anna)
        anna.delete("/contacts/K-1")
        done(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, "K-1")

        said = refused(anna.service.settings, "contact", "purge", "--prefix", anna.prefix, "K-1")

        assert said == NO_DELETED


class TestActionsOnAProduct:
    """`product history`: every action, newest first."""

    def test_begins_with_the_creation(self, anna: Member) -> None:
        product_id = make_product(anna, vendor="Bosch", is_prio=True)

        [action] = _actions(anna)

        assert action == {
            "id": action["id"],
            "category": "created",
            "text": "Product Created",
            "user_name": "anna",
            "at": found_product(anna)["updated_at"],
            "changes": {
                "list_id": [None, anna.list_id],
                "article_number": [None, "A-1"],
                "designation": [None, "Hex bolt M8"],
                "vendor": [None, "Bosch"],
                "is_prio": [None, True],
            },
        }
        assert action["id"] > product_id

    def test_has_its_members_in_the_order_of_the_design(self, anna: Member) -> None:
        make_product(anna)

        [line] = done(anna.service.settings, "product", "history", "--prefix", anna.prefix, "A-1")

        assert list(json.loads(line)) == ["id", "category", "text", "user_name", "at", "changes"]

    def test_goes_on_with_each_update(self, anna: Member) -> None:
        make_product(anna, vendor="Bosch", feature1="zinc")
        action_id = _update_product(anna, vendor="Würth", feature1="zinc", feature2="M8", is_eccn=False)

        newest, _ = _actions(anna)

        assert newest == {
            "id": action_id,
            "category": "updated",
            "text": "Product Updated",
            "user_name": "anna",
            "at": found_product(anna)["updated_at"],
            "changes": {"vendor": ["Bosch", "Würth"], "feature2": ["", "M8"]},
        }

    def test_goes_on_with_an_update_that_changes_nothing(self, anna: Member) -> None:
        make_product(anna)
        ids = [_update_product(anna) for _ in range(2)]

        actions = _actions(anna)

        assert [(action["id"], action["changes"]) for action in actions[:2]] == [(ids[1], {}), (ids[0], {})]

    def test_has_fields_that_the_interface_does_not_show(self, anna: Member) -> None:
        make_product(anna)
        _update_product(anna, type_of_sourcing="F", country_of_origin={"made_in": "de"}, is_military=True)

        newest, _ = _actions(anna)

        assert newest["changes"] == {
            "type_of_sourcing": ["", "F"],
            "made_in": ["", "DE"],
            "is_military": [False, True],
        }

    @pytest.mark.parametrize(
        ("verbs", "category", "text", "changes"),
        [
            ([("archive",)], "archived", "Product Archived", {"is_archived": [False, True]}),
            ([("archive",), ("archive",)], "archived", "Product Archived", {}),
            ([("archive",), ("unarchive",)], "unarchived", "Product Unarchived", {"is_archived": [True, False]}),
            ([("delete",)], "deleted", "Product Deleted", {"is_deleted": [False, True]}),
            ([("delete",), ("restore",)], "restored", "Product Restored", {"is_deleted": [True, False]}),
            ([("unlist",)], "unlisted", "Unlisted Goods", {"is_unlisted": [False, True]}),
            ([("unlist",), ("unlist", "--off")], "listed", "Unlisted Goods Withdrawn", {"is_unlisted": [True, False]}),
        ],
    )
    def test_has_the_deeds_of_the_operator(
        self,
        anna: Member,
        verbs: list[tuple[str, ...]],
        category: str,
        text: str,
        changes: dict[str, list[bool]],
    ) -> None:
        make_product(anna)
        for verb in verbs:
            _product(anna, *verb)

        actions = _actions(anna)

        deleted = category == "deleted"
        assert len(actions) == len(verbs) + 1
        assert actions[0] == {
            "id": actions[0]["id"],
            "category": category,
            "text": text,
            "user_name": "operator",
            "at": found_product(anna, deleted=deleted)["updated_at"],
            "changes": changes,
        }

    def test_has_eccn_codes_and_files(self, anna: Member, tmp_path: Any) -> None:
        make_product(anna)
        (tmp_path / "a.pdf").write_text("content")
        _product(anna, "eccn", "--code", "EAR99")
        [path] = _product(anna, "attach", str(tmp_path / "a.pdf"))
        _product(anna, "detach", path)

        actions = _actions(anna)

        assert [(action["category"], action["text"], list(action["changes"])) for action in actions] == [
            ("detached", "File Detached", ["files"]),
            ("attached", "File Attached", ["files"]),
            ("eccn", "ECCN Recorded", ["eccns"]),
            ("created", "Product Created", ["list_id", "article_number", "designation"]),
        ]
        assert path in json.dumps(actions[0]["changes"]["files"][0])

    def test_has_classifications_with_what_was_recorded(self, anna: Member) -> None:
        make_product(anna)
        _product(anna, "classify", given=json.dumps(MANUAL))
        _product(anna, "classify", given=json.dumps({**MANUAL, "ctn": "8501522090"}))

        second, first, _ = _actions(anna)

        before, after = first["changes"]["classification"]
        assert (first["category"], first["text"], first["user_name"]) == (
            "classified",
            "Product Classified",
            "operator",
        )
        assert (before, after["type"], after["ctn"]) == (None, "manual", "85015220")
        assert second["changes"] == {"classification.ctn": ["85015220", "8501522090"]}

    def test_has_the_automatic_adjustment_after_the_update(self, anna: Member) -> None:
        make_product(anna)
        _product(anna, "classify", given=json.dumps(MANUAL))
        action_id = _update_product(anna, feature1="galvanized")

        adjusted, updated, *_ = _actions(anna)

        assert adjusted == {
            "id": action_id,
            "category": "adjusted",
            "text": "Classification To Review",
            "user_name": "stammdaten",
            "at": found_product(anna)["updated_at"],
            "changes": {"classification.status": ["classified", "review"]},
        }
        assert (updated["category"], updated["user_name"]) == ("updated", "anna")
        assert (updated["id"] < adjusted["id"], updated["at"] < adjusted["at"]) == (True, True)

    def test_has_the_reset_instead_of_the_adjustment(self, anna: Member) -> None:
        make_product(anna)
        _product(anna, "classify", given=json.dumps(MANUAL))
        action_id = _update_product(anna, feature1="galvanized", reset_classification=True)

        reset, updated, classified, _ = _actions(anna)

        assert (reset["id"], reset["category"], reset["text"], reset["user_name"]) == (
            action_id,
            "reset",
            "Classification Reset",
            "anna",
        )
        assert reset["changes"]["classification"][1] is None
        assert (updated["category"], classified["category"]) == ("updated", "classified")

    def test_is_in_the_order_of_ids_and_stamps(self, anna: Member) -> None:
        make_product(anna)
        ids = [_update_product(anna, vendor=str(number)) for number in range(5)]
        _product(anna, "archive")

        actions = _actions(anna)

        stamps = [action["at"] for action in actions]
        assert [action["id"] for action in actions[1:-1]] == ids[::-1]
        assert stamps == sorted(set(stamps), reverse=True)
        assert all(re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{6}", stamp) for stamp in stamps)

    def test_keeps_every_action(self, anna: Member) -> None:
        make_product(anna)
        for number in range(120):
            _update_product(anna, vendor=str(number))

        actions = _actions(anna)

        assert len(actions) == 121

    def test_is_that_of_the_live_product_of_the_number(self, anna: Member) -> None:
        make_product(anna, vendor="first")
        _product(anna, "delete")
        make_product(anna, vendor="second")

        actions = _actions(anna)

        assert [action["changes"]["vendor"] for action in actions] == [[None, "second"]]

    def test_is_that_of_the_newest_deleted_product_where_none_is_live(self, anna: Member) -> None:
        for vendor in ("first", "second"):
            make_product(anna, vendor=vendor)
            _product(anna, "delete")

        deleted, created = _actions(anna)

        assert (deleted["category"], created["changes"]["vendor"]) == ("deleted", [None, "second"])

    def test_is_that_of_one_product_of_one_instance(self, anna: Member, bruno: Member) -> None:
        make_product(anna)
        make_product(anna, "A-2")
        make_product(bruno)
        _update_product(bruno)

        assert [action["category"] for action in _actions(anna)] == ["created"]
        assert [action["category"] for action in _actions(bruno)] == ["updated", "created"]

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"article_number": "A-1", "product": {"designation": ""}}, 400),
            ({"article_number": "A-1", "product": {"designation": "x", "type_of_sourcing": "Q"}}, 400),
            ({"article_number": "A-2", "product": {"designation": "x"}}, 404),
        ],
    )
    def test_has_no_action_of_what_was_refused(self, anna: Member, body: object, status: int) -> None:
        make_product(anna)

        response = anna.put("/products", body)

        assert response.status_code == status
        assert [action["category"] for action in _actions(anna)] == ["created"]

    def test_has_no_action_of_a_reset_that_was_refused(self, anna: Member) -> None:
        make_product(anna)
        _product(anna, "classify", given=json.dumps({**MANUAL, "is_fixed": True}))
        body = {"article_number": "A-1", "product": {"designation": "Else", "reset_classification": True}}

        response = anna.put("/products", body)

        assert response.status_code == 403
        assert [action["category"] for action in _actions(anna)] == ["classified", "created"]

    def test_has_one_creation_where_many_asked_at_once(self, anna: Member) -> None:
        list_id = make_list(anna, "Else")
        body = {"list_id": list_id, "product": {"article_number": "A-1", "designation": "Hex bolt M8"}}

        with ThreadPoolExecutor(8) as threads:
            codes = [each.status_code for each in threads.map(lambda _: anna.post("/products", body), range(8))]

        assert sorted(codes) == [201] + [409] * 7
        assert [action["category"] for action in _actions(anna)] == ["created"]
