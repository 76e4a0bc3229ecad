"""POST products/find, and what operators and staff do to a product that a find then shows."""

# Over 300 lines: one find shows what each of the deeds did.
# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import json
from typing import Any

import pytest

from stammdaten.classification.rules import Classification
from stammdaten.clock import german_stamp, utc_now
from stammdaten.products.standing import (
    Archiving,
    Attaching,
    Classifying,
    Deed,
    Detaching,
    Eccns,
    Unlisting,
    archive_products,
    attach_files,
    classify_products,
    delete_products,
    detach_files,
    record_eccns,
    restore_products,
    unlist_products,
)
from stammdaten.refusals import AlreadyExists, NotFound
from stammdaten.store.batches import Operation
from tests.cast import Member, found_product, make_product
from tests.test_products_update import actions_of

NOT_FOUND = {"reason": "There is no product with this article_number."}


def find(member: Member, article_number: object = "A-1", **given: object) -> Any:
    """Send a find."""
    return member.post("/products/find", {"article_number": article_number, **given})


def delete(member: Member, article_number: str = "A-1") -> int:
    """Delete a product as the command does; return the action's id."""
    return int(member.submit(delete_products, Deed(article_number, "anna")))


def shown_ids(member: Member, **query: object) -> list[int]:
    """Return the ids that GET products shows."""
    response = member.get("/products", timestamp="1970-01-01", **query)
    assert response.status_code == 200, response.text
    return [product["id"] for product in response.json()["products"]]


class TestFindProduct:
    """POST products/find."""

    def test_returns_the_product_as_it_is_listed(self, anna: Member) -> None:
        """To the byte: a product is rendered once, by the write."""
        make_product(anna, "Ä/1", vendor='"Böse" \\ & Söhne', feature1="🔩", eccn_comment="a\nb")

        response = find(anna, "Ä/1")

        listed = anna.get("/products", timestamp="1970-01-01")
        document = response.content.removeprefix(b'{"product":').removesuffix(b"}")
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert listed.content == b'{"products":[%b]}' % document

    def test_finds_among_many(self, anna: Member) -> None:
        ids = {f"A-{number}": make_product(anna, f"A-{number}") for number in range(10)}

        found = {number: find(anna, number).json()["product"]["id"] for number in ids}

        assert found == ids

    @pytest.mark.parametrize("given", ["A-1", " A-1", "A-1 ", "\u3000\u00a0A-1\u2003"])
    def test_trims_the_number(self, anna: Member, given: str) -> None:
        product_id = make_product(anna)

        response = find(anna, given)

        assert response.status_code == 200
        assert response.json()["product"]["id"] == product_id

    @pytest.mark.parametrize(
        "given", ["a-1", "A-2", "A", "A-", "-1", "A-%", "A-_", "%", "A-1%", "A‐1", "Ａ-1", "A -1", "A-1\u200b"]
    )
    def test_refuses_a_number_that_is_not_exactly_the_same(self, anna: Member, given: str) -> None:
        make_product(anna)

        response = find(anna, given)

        assert response.status_code == 404
        assert response.json() == NOT_FOUND

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ({}, "article_number is required"),
            ({"deleted": True}, "article_number is required"),
            ({"product": {"article_number": "A-1"}}, "article_number is required"),
            ({"article_number": None}, "article_number must be a String"),
            ({"article_number": 1}, "article_number must be a String"),
            ({"article_number": True}, "article_number must be a String"),
            ({"article_number": ["A-1"]}, "article_number must be a String"),
            ({"article_number": {"A-1": 1}}, "article_number must be a String"),
            ({"article_number": ""}, "article_number must not be empty"),
            ({"article_number": " \u3000"}, "article_number must not be empty"),
            ({"article_number": "A-1\n"}, "article_number must not hold control characters"),
            ({"article_number": "x" * 256}, "article_number must not be longer than 255 characters"),
        ],
    )
    def test_refuses_what_is_no_number(self, anna: Member, body: object, reason: str) -> None:
        response = anna.post("/products/find", body)

        assert response.status_code == 400
        assert response.json() == {"reason": reason}

    def test_ignores_unknown_members(self, anna: Member) -> None:
        product_id = make_product(anna)

        response = find(anna, list_id=999, include_archived=False, product={"article_number": "A-2"})

        assert response.json()["product"]["id"] == product_id

    def test_finds_an_archived_product(self, anna: Member) -> None:
        product_id = make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))

        response = find(anna)

        assert response.status_code == 200
        assert response.json()["product"]["id"] == product_id

    def test_changes_nothing(self, anna: Member) -> None:
        product_id = make_product(anna)
        before = found_product(anna)

        find(anna)

        assert found_product(anna) == before
        assert len(actions_of(anna, product_id)) == 1


class TestFindDeleted:
    """POST products/find, `deleted`."""

    @pytest.mark.parametrize(
        "deleted",
        [False, None, 0, 0.0, -0.0, "", "false", "FALSE", "False", "0", "no", "No", "NO", "off", "OFF", "oFf"],
        ids=repr,
    )
    def test_false_finds_the_product_that_lives(self, anna: Member, deleted: object) -> None:
        make_product(anna)
        delete(anna)
        living = make_product(anna)

        response = find(anna, deleted=deleted)

        assert response.status_code == 200
        assert (response.json()["product"]["id"], response.json()["product"]["is_deleted"]) == (living, False)

    @pytest.mark.parametrize(
        "deleted",
        [
            *(True, 1, -1, 0.5, 2**53, "true", "TRUE", "1", "yes", "on", "x", " ", " false", "0.0", "null", "None"),
            *("nein", "ﬀ", "ｎｏ", [], [0], [False], {}, {"a": 0}),
        ],
        ids=repr,
    )
    def test_all_else_finds_the_deleted_one(self, anna: Member, deleted: object) -> None:
        gone = make_product(anna)
        delete(anna)
        make_product(anna)

        response = find(anna, deleted=deleted)

        assert response.status_code == 200
        assert (response.json()["product"]["id"], response.json()["product"]["is_deleted"]) == (gone, True)

    def test_finds_no_product_that_lives(self, anna: Member) -> None:
        make_product(anna)

        response = find(anna, deleted=True)

        assert response.status_code == 404
        assert response.json() == NOT_FOUND

    def test_is_needed_for_a_deleted_product(self, anna: Member) -> None:
        make_product(anna)
        delete(anna)

        response = find(anna)

        assert response.status_code == 404
        assert response.json() == NOT_FOUND

    def test_finds_the_newest_deleted(self, anna: Member) -> None:
        for _ in range(3):
            newest = make_product(anna)
            delete(anna)

        response = find(anna, deleted=True)

        assert response.json()["product"]["id"] == newest

    def test_returns_the_product_as_it_is_listed(self, anna: Member) -> None:
        make_product(anna)
        delete(anna)

        response = find(anna, deleted=True)

        listed = anna.get("/products", timestamp="1970-01-01", deleted="true")
        document = response.content.removeprefix(b'{"product":').removesuffix(b"}")
        assert listed.content == b'{"products":[%b]}' % document

    def test_finds_one_that_was_archived_before(self, anna: Member) -> None:
        product_id = make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))
        delete(anna)

        response = find(anna, deleted=True)

        assert response.json()["product"]["id"] == product_id


class TestDeleteProducts:
    """products.standing.delete_products."""

    def test_flags_and_stamps_the_product(self, anna: Member) -> None:
        product_id = make_product(anna, vendor="Bosch")
        before = found_product(anna)

        action_id = delete(anna)

        after = found_product(anna, deleted=True)
        newest = actions_of(anna, product_id)[0]
        assert after == {**before, "is_deleted": True, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert newest[:5] == (action_id, "deleted", "Product Deleted", "anna", after["updated_at"])

    def test_refuses_one_that_is_deleted(self, anna: Member) -> None:
        make_product(anna)
        delete(anna)
        before = found_product(anna, deleted=True)

        with pytest.raises(NotFound):
            delete(anna)

        assert found_product(anna, deleted=True) == before


class TestRestoreProducts:
    """products.standing.restore_products."""

    def test_brings_the_product_back(self, anna: Member) -> None:
        product_id = make_product(anna, vendor="Bosch")
        before = found_product(anna)
        delete(anna)
        deleted = found_product(anna, deleted=True)

        action_id = anna.submit(restore_products, Deed("A-1", "anna"))

        after = found_product(anna)
        newest = actions_of(anna, product_id)[0]
        assert after == {**before, "updated_at": after["updated_at"]}
        assert after["updated_at"] > deleted["updated_at"]
        assert newest[:5] == (action_id, "restored", "Product Restored", "anna", after["updated_at"])
        assert find(anna, deleted=True).status_code == 404

    def test_refuses_while_the_number_is_in_use(self, anna: Member) -> None:
        make_product(anna)
        delete(anna)
        make_product(anna)
        before = found_product(anna), found_product(anna, deleted=True)

        with pytest.raises(AlreadyExists):
            anna.submit(restore_products, Deed("A-1", "anna"))

        assert (found_product(anna), found_product(anna, deleted=True)) == before

    def test_refuses_while_an_archived_product_uses_the_number(self, anna: Member) -> None:
        make_product(anna)
        delete(anna)
        make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))
        before = found_product(anna), found_product(anna, deleted=True)

        with pytest.raises(AlreadyExists):
            anna.submit(restore_products, Deed("A-1", "anna"))

        assert (found_product(anna), found_product(anna, deleted=True)) == before

    def test_takes_the_newest_deleted(self, anna: Member) -> None:
        oldest = make_product(anna)
        delete(anna)
        newest = make_product(anna)
        delete(anna)

        anna.submit(restore_products, Deed("A-1", "anna"))

        assert found_product(anna)["id"] == newest
        assert found_product(anna, deleted=True)["id"] == oldest

    def test_refuses_where_nothing_is_deleted(self, anna: Member) -> None:
        product_id = make_product(anna, "A-2")

        with pytest.raises(NotFound):
            anna.submit(restore_products, Deed("A-1", "anna"))

        assert shown_ids(anna, include_archived="true") == [product_id]

    def test_leaves_an_archived_product_archived(self, anna: Member) -> None:
        product_id = make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))
        delete(anna)

        anna.submit(restore_products, Deed("A-1", "anna"))

        assert shown_ids(anna) == []
        assert shown_ids(anna, include_archived="true") == [product_id]

    def test_keeps_the_classification(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(classify_products, Classifying("A-1", "anna", Classification(type="special", ctn="99050000")))
        before = found_product(anna)
        delete(anna)

        anna.submit(restore_products, Deed("A-1", "anna"))

        after = found_product(anna)
        assert before["classification"] is not None
        assert after == {**before, "updated_at": after["updated_at"]}


class TestArchiveProducts:
    """products.standing.archive_products."""

    def test_hides_the_product_and_brings_it_back(self, anna: Member) -> None:
        product_id = make_product(anna)
        before = found_product(anna)

        archived = anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))
        hidden = shown_ids(anna)
        unarchived = anna.submit(archive_products, Archiving("A-1", "anna", is_archived=False))

        after = found_product(anna)
        actions = actions_of(anna, product_id)
        assert hidden == []
        assert shown_ids(anna) == [product_id]
        assert after == {**before, "updated_at": after["updated_at"]}
        assert [action[:4] for action in actions[:2]] == [
            (unarchived, "unarchived", "Product Unarchived", "anna"),
            (archived, "archived", "Product Archived", "anna"),
        ]
        assert before["updated_at"] < actions[1][4] < actions[0][4] == after["updated_at"]


class TestRecordEccns:
    """products.standing.record_eccns."""

    @pytest.mark.parametrize(
        ("codes", "comment", "shown"),
        [
            (("3A225",), "", {"codes": "3A225", "comment": ""}),
            (("3A225", "EAR99"), "checked", {"codes": "3A225, EAR99", "comment": "checked"}),
            ((), "a comment alone", {"codes": "", "comment": "a comment alone"}),
            ((), "", None),
        ],
    )
    def test_shows_what_the_staff_recorded(
        self, anna: Member, codes: tuple[str, ...], comment: str, shown: dict[str, str] | None
    ) -> None:
        make_product(anna, eccn_comment="of the caller")
        anna.submit(record_eccns, Eccns("A-1", "anna", ("5D002",), "before"))

        anna.submit(record_eccns, Eccns("A-1", "anna", codes, comment))

        product = found_product(anna)
        assert product["eccns"] == shown
        assert product["data"][0]["eccn_comment"] == "of the caller"

    def test_is_kept_by_an_update(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(record_eccns, Eccns("A-1", "anna", ("3A225",), ""))
        product = {"designation": "Bolt", "eccn_comment": "x", "is_eccn": True, "eccns": None}

        anna.put("/products", {"article_number": "A-1", "product": product})

        assert found_product(anna)["eccns"] == {"codes": "3A225", "comment": ""}


class TestUnlistProducts:
    """products.standing.unlist_products."""

    @pytest.mark.parametrize(("is_unlisted", "category"), [(True, "unlisted"), (False, "listed")])
    def test_shows_the_mark(self, anna: Member, is_unlisted: bool, category: str) -> None:  # noqa: FBT001
        product_id = make_product(anna)
        anna.submit(unlist_products, Unlisting("A-1", "anna", is_unlisted=not is_unlisted))
        before = found_product(anna)

        anna.submit(unlist_products, Unlisting("A-1", "anna", is_unlisted=is_unlisted))

        after = found_product(anna)
        assert after == {**before, "is_unlisted": is_unlisted, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert actions_of(anna, product_id)[0][1] == category


class TestAttachFiles:
    """products.standing.attach_files."""

    def test_shows_path_user_and_time(self, anna: Member) -> None:
        product_id = make_product(anna)
        before = german_stamp(utc_now())

        anna.submit(attach_files, Attaching("A-1", "anna", "A-1/Datenblatt ä.pdf"))
        anna.submit(attach_files, Attaching("A-1", "bob", "A-1/photo.jpg"))

        first, second = found_product(anna)["files"]
        after = german_stamp(utc_now())
        assert first == {"path": "A-1/Datenblatt ä.pdf", "username": "anna", "date": first["date"]}
        assert second == {"path": "A-1/photo.jpg", "username": "bob", "date": second["date"]}
        assert before <= first["date"] <= second["date"] <= after
        assert [action[1] for action in actions_of(anna, product_id)] == ["attached", "attached", "created"]

    def test_refuses_a_path_twice(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        before = found_product(anna)

        with pytest.raises(AlreadyExists):
            anna.submit(attach_files, Attaching("A-1", "bob", "a.pdf"))

        assert found_product(anna) == before


class TestDetachFiles:
    """products.standing.detach_files."""

    def test_takes_one_file_off(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        anna.submit(attach_files, Attaching("A-1", "anna", "b.pdf"))
        before = found_product(anna)

        anna.submit(detach_files, Detaching("A-1", "anna", "a.pdf"))

        after = found_product(anna)
        assert after == {**before, "files": before["files"][1:], "updated_at": after["updated_at"]}

    def test_refuses_an_unknown_path(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        before = found_product(anna)

        with pytest.raises(NotFound):
            anna.submit(detach_files, Detaching("A-1", "anna", "A.pdf"))

        assert found_product(anna) == before


DEEDS = [
    pytest.param(delete_products, Deed("A-1", "anna"), id="delete"),
    pytest.param(restore_products, Deed("A-1", "anna"), id="restore"),
    pytest.param(archive_products, Archiving("A-1", "anna", is_archived=True), id="archive"),
    pytest.param(
        classify_products, Classifying("A-1", "anna", Classification(type="special", ctn="99050000")), id="classify"
    ),
    pytest.param(record_eccns, Eccns("A-1", "anna", ("3A225",), ""), id="eccn"),
    pytest.param(unlist_products, Unlisting("A-1", "anna", is_unlisted=True), id="unlist"),
    pytest.param(attach_files, Attaching("A-1", "anna", "b.pdf"), id="attach"),
    pytest.param(detach_files, Detaching("A-1", "anna", "a.pdf"), id="detach"),
]


class TestEveryDeed:
    """products.standing: what all its operations have in common."""

    @pytest.mark.parametrize(("operation", "row"), DEEDS)
    def test_finds_nobody_elses_product(self, anna: Member, bruno: Member, operation: Operation, row: object) -> None:
        make_product(anna)
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        if operation is restore_products:
            delete(anna)
        before = find(anna, deleted=operation is restore_products).json()

        with pytest.raises(NotFound):
            bruno.submit(operation, row)

        assert find(anna, deleted=operation is restore_products).json() == before

    @pytest.mark.parametrize(("operation", "row"), [each for each in DEEDS if each.id != "restore"])
    def test_leaves_a_deleted_product_alone(self, anna: Member, operation: Operation, row: object) -> None:
        make_product(anna)
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        delete(anna)
        before = found_product(anna, deleted=True)

        with pytest.raises(NotFound):
            anna.submit(operation, row)

        assert found_product(anna, deleted=True) == before

    @pytest.mark.parametrize(("operation", "row"), [each for each in DEEDS if each.id != "restore"])
    def test_moves_the_stamp_and_leaves_the_neighbour_alone(
        self, anna: Member, operation: Operation, row: object
    ) -> None:
        product_id = make_product(anna)
        make_product(anna, "A-2", vendor="Bosch")
        anna.submit(attach_files, Attaching("A-1", "anna", "a.pdf"))
        before, neighbour = found_product(anna), found_product(anna, "A-2")

        action_id = anna.submit(operation, row)

        after = found_product(anna, deleted=operation is delete_products)
        newest = actions_of(anna, product_id)[0]
        assert after["updated_at"] > before["updated_at"]
        assert (newest[0], newest[3], newest[4]) == (action_id, "anna", after["updated_at"])
        assert json.loads(newest[5]) != {}
        assert found_product(anna, "A-2") == neighbour
