"""Contacts and the sanctions lists, through the HTTP door: statuses, decisions, and what follows from a new version.

The lists are shared by all instances, so these tests have a service of their own, on a list of invented parties. A
test that changes the list ends with the list that it found.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stammdaten.checking import check_store
from stammdaten.contacts.deciding import Decision, decide_matches
from stammdaten.contacts.operations import ContactChange, create_contacts, update_contacts
from stammdaten.contacts.purging import purge_history
from stammdaten.contacts.shapes import Given
from stammdaten.contacts.subjects import checks_of_new
from stammdaten.history.queries import records_of
from stammdaten.refusals import Invalid, NotFound
from stammdaten.screening.queries import checks_since
from stammdaten.screening.ruling import set_rules
from stammdaten.settings import Settings
from stammdaten.store import Store
from tests.cast import Member, Service, caller_of, make_contact
from tests.made_lists import FIRM, WANTED, load, settle, un_list

OTHER = ("6900003", "Ermintrude Hollaback-Szymborska", "Poland")


@pytest.fixture(scope="module")
def listed(copied: Callable[[], Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a list in force, for the tests of this file."""
    with Service(copied()) as running:
        load(running, tmp_path_factory.mktemp("lists"), un_list())
        yield running
        settle(running)
        assert running.run(check_store) == []


@pytest.fixture
def cara(listed: Service) -> Member:
    """CARA: a clerk whose contacts are screened."""
    return listed.member("cara", roles=["api-user", "clerk"])


@pytest.fixture
def dora(listed: Service) -> Member:
    """DORA: the same in another account."""
    return listed.member("dora", roles=["api-user", "clerk"])


def contact(member: Member, uid: str = "K-1") -> dict[str, Any]:
    """Return a contact as the interface shows it."""
    found: dict[str, Any] = member.get(f"/contacts/{uid}").json()["contact"]
    return found


def decide(member: Member, match_id: int, decision: str, *, uid: str = "K-1", comment: str = "Looked at it.") -> Any:
    """Decide a match as the command does."""
    return json.loads(member.submit(decide_matches, Decision(uid, match_id, decision, comment, "Berta")))["status"]


def checks_of(member: Member) -> list[dict[str, Any]]:
    """Return the record of checks of an instance."""

    async def read_all(store: Store) -> list[dict[str, Any]]:
        async with store.reading(member.instance_id) as read:
            return [record async for records in checks_since(read, "") for record in records]

    return member.service.run(read_all)


def categories(member: Member, uid: str = "K-1") -> list[str]:
    """Return the categories of a contact's history records, newest first."""

    async def read_all(store: Store) -> list[str]:
        async with store.reading(member.instance_id) as read:
            return [record[0] for record in await records_of(read, uid)]

    return member.service.run(read_all)


class TestCreate:
    """A create answers with the status already there."""

    def test_says_green_and_why(self, cara: Member) -> None:
        made = make_contact(cara, first_name="Annegret", last_name="Kühnemund-Lohse")

        assert (made["status"], made["sanctions_check"], made["matches"]) == ("green", "clear", [])
        assert made["last_sanction_checked_at"] is not None
        result = made["sanctions_check_result"]
        assert result["lists"] == [{"name": "un", "version": "2026-11-01", "entries": 2}]
        assert result["reason"] == ""
        assert 0.5 < result["threshold"] < result["certain"] < 1

    def test_finds_a_listed_person(self, cara: Member) -> None:
        made = make_contact(cara, first_name="Zoltán", last_name="Quistorp Vandermeulen", country_or_region="Ungarn")

        assert made["status"] in ("yellow", "red")
        (match,) = made["matches"]
        assert (match["list"], match["entry_id"], match["matched_name"]) == ("un", f"TSi.{WANTED[0]}", WANTED[1])
        assert match["decision"] == "open"
        assert made["sanctions_check_result"]["highest_score"] == match["score"]

    def test_calls_the_very_name_red(self, cara: Member) -> None:
        made = make_contact(cara, first_name="Zoltan Barnabas", last_name="Quistorp-Vandermeulen")

        assert (made["status"], made["sanctions_check"]) == ("red", "match")

    def test_finds_a_listed_company(self, cara: Member) -> None:
        made = make_contact(cara, last_name="KORVANTHAL Machinery Export Corp.", country_or_region="Iran")

        assert made["status"] in ("yellow", "red")
        assert [match["entry_id"] for match in made["matches"]] == [f"TSe.{FIRM[0]}"]

    @pytest.mark.parametrize("last_name", ["???", "-", "…", "GmbH", "Dr.", "😀", "€€€", "♥♥♥", "a b " * 60])
    def test_never_calls_green_what_it_cannot_compare(self, cara: Member, last_name: str) -> None:
        made = make_contact(cara, last_name=last_name)

        assert (made["status"], made["sanctions_check"]) == ("gray", "failed")
        assert made["sanctions_check_result"]["reason"] == "The name holds nothing that could be compared."

    def test_records_the_check_also_without_a_hit(self, cara: Member) -> None:
        make_contact(cara, first_name="Annegret", last_name="Kühnemund-Lohse")

        (record,) = checks_of(cara)
        assert (record["contact_uid"], record["why"], record["user_name"]) == ("K-1", "created", "cara")
        assert (record["outcome"], record["status"], record["matches"]) == ("clear", "green", 0)
        assert record["name"] == "Annegret Kühnemund-Lohse"


class TestDelete:
    """A deleted contact is screened no more."""

    def test_keeps_the_record_of_checks_until_it_is_purged(self, cara: Member) -> None:
        make_contact(cara, first_name="Zoltan", last_name="Quistorp-Vandermeulen")
        cara.delete("/contacts/K-1")
        kept = [record["status"] for record in checks_of(cara)]
        again = make_contact(cara, last_name="Kühnemund-Lohse")

        cara.service.write(cara.instance_id, lambda write: purge_history(write, "K-1"))

        assert len(kept) == 1
        assert again["status"] == "green"
        assert [record["contact_id"] for record in checks_of(cara)] == [again["id"]]


class TestUpdate:
    """An update is checked again where it changes who the contact is."""

    def test_of_the_name_changes_the_status_at_once(self, cara: Member) -> None:
        make_contact(cara, last_name="Kühnemund-Lohse")

        update = {"contact": {"first_name": "Zoltan", "last_name": "Quistorp-Vandermeulen"}}
        updated = cara.put("/contacts/K-1", update).json()["contact"]
        back = cara.put("/contacts/K-1", {"contact": {"first_name": "", "last_name": "Kühnemund-Lohse"}})

        assert updated["status"] in ("yellow", "red")
        assert back.json()["contact"]["status"] == "green"

    def test_of_something_else_is_no_check(self, cara: Member) -> None:
        made = make_contact(cara, last_name="Kühnemund-Lohse")

        updated = cara.put("/contacts/K-1", {"contact": {"phone": "+49 30 1234"}}).json()["contact"]

        assert updated["last_sanction_checked_at"] == made["last_sanction_checked_at"]
        assert len(checks_of(cara)) == 1


class TestDecide:
    """A person decides the matches."""

    @pytest.fixture
    def match(self, cara: Member) -> dict[str, Any]:
        """A contact with a match that waits for a decision."""
        (match,) = make_contact(cara, first_name="Zoltan", last_name="Quistorp-Vandermeulen")["matches"]
        found: dict[str, Any] = match
        return found

    def test_turns_a_rejected_match_green_and_a_confirmed_one_red(self, cara: Member, match: dict[str, Any]) -> None:
        assert decide(cara, match["id"], "rejected") == "green"
        assert decide(cara, match["id"], "confirmed") == "red"
        assert decide(cara, match["id"], "open") in ("yellow", "red")

    def test_says_who_when_and_why(self, cara: Member, match: dict[str, Any]) -> None:
        decide(cara, match["id"], "rejected", comment="Other year of birth.")

        (shown,) = contact(cara)["matches"]
        assert (shown["decision"], shown["decided_by"]) == ("rejected", "Berta")
        assert shown["comment"] == "Other year of birth."
        assert shown["decided_at"].endswith("Z")
        assert categories(cara) == ["decided", "created"]
        assert checks_of(cara)[-1]["comment"].startswith("rejected: un TSi.6900001")

    def test_stays_silent_until_the_contact_changes(self, cara: Member, match: dict[str, Any]) -> None:
        decide(cara, match["id"], "rejected", comment="Other year of birth.")
        silent = cara.put("/contacts/K-1", {"contact": {"comment": "Good customer."}}).json()["contact"]

        opened = cara.put("/contacts/K-1", {"contact": {"city": "Szeged"}}).json()["contact"]

        assert silent["status"] == "green"
        assert opened["status"] in ("yellow", "red")
        (shown,) = opened["matches"]
        assert shown["id"] == match["id"]
        assert shown["comment"].startswith("Opened again because the contact's identifying data changed. Rejected by")
        assert shown["comment"].endswith("Other year of birth.")

    def test_keeps_a_confirmed_match_red_while_a_check_waits(self, cara: Member, match: dict[str, Any]) -> None:
        decide(cara, match["id"], "confirmed")
        given = Given(contact_uid="K-1", values={"first_name": "Annegret"}, notes=[])

        updated = json.loads(cara.submit(update_contacts, ContactChange(caller_of(cara), given)))

        assert (updated["status"], updated["sanctions_check"]) == ("red", "unchecked")

    def test_keeps_a_confirmed_match_whatever_the_contact_calls_itself(
        self, cara: Member, match: dict[str, Any]
    ) -> None:
        decide(cara, match["id"], "confirmed")

        renamed = {"contact": {"first_name": "Annegret", "last_name": "Kühnemund-Lohse"}}
        updated = cara.put("/contacts/K-1", renamed).json()["contact"]

        assert updated["status"] == "red"

    def test_refuses_what_is_no_decision(self, cara: Member, match: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match="comment"):
            decide(cara, match["id"], "rejected", comment="  ")
        with pytest.raises(Invalid, match="decision"):
            decide(cara, match["id"], "maybe")
        with pytest.raises(NotFound):
            decide(cara, match["id"] + 1000, "rejected")
        with pytest.raises(NotFound):
            decide(cara, match["id"], "rejected", uid="nobody")

        assert contact(cara)["matches"][0]["decision"] == "open"

    def test_is_of_one_instance(self, cara: Member, dora: Member, match: dict[str, Any]) -> None:
        make_contact(dora, "K-1", last_name="Lindgren")

        with pytest.raises(NotFound):
            decide(dora, match["id"], "rejected")


class TestListChange:
    """A new version of a list concerns who is like what it changed, and nobody else."""

    @pytest.fixture(autouse=True)
    def restored(self, listed: Service, tmp_path: Path) -> Iterator[None]:
        """Bring the list back."""
        yield
        load(listed, tmp_path, un_list())

    def test_finds_contacts_that_a_new_entry_names(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        make_contact(cara, "K-1", first_name="Ermintrude", last_name="Hollaback-Szymborska")
        before = make_contact(cara, "K-2", last_name="Kühnemund-Lohse")

        loaded = load(listed, tmp_path, un_list([WANTED, OTHER], day="2026-11-02"))

        assert (loaded.added, loaded.changed, loaded.removed) == (1, 0, 0)
        assert contact(cara, "K-1")["status"] in ("yellow", "red")
        assert contact(cara, "K-2") == before
        assert categories(cara, "K-1") == ["screened", "created"]

    def test_releases_contacts_whose_entry_is_gone(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        (match,) = make_contact(cara, first_name="Zoltan", last_name="Quistorp-Vandermeulen")["matches"]
        decide(cara, match["id"], "confirmed")

        load(listed, tmp_path, un_list([]))

        assert (contact(cara)["status"], contact(cara)["matches"]) == ("green", [])

    def test_opens_a_rejected_match_whose_entry_changed(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        (match,) = make_contact(cara, first_name="Zoltan", last_name="Quistorp-Vandermeulen")["matches"]
        decide(cara, match["id"], "rejected")

        load(listed, tmp_path, un_list([(WANTED[0], WANTED[1], "Austria")]))

        (shown,) = contact(cara)["matches"]
        assert shown["decision"] == "open"
        assert "the list entry changed" in shown["comment"]

    def test_leaves_a_rejected_match_alone_that_did_not_change(
        self, listed: Service, cara: Member, tmp_path: Path
    ) -> None:
        (match,) = make_contact(cara, first_name="Zoltan", last_name="Quistorp-Vandermeulen")["matches"]
        decide(cara, match["id"], "rejected")
        before = contact(cara)

        load(listed, tmp_path, un_list([WANTED, OTHER]))

        after = contact(cara)
        assert [after[name] for name in ("status", "matches", "updated_at")] == [
            before[name] for name in ("status", "matches", "updated_at")
        ]

    def test_during_a_check_has_the_contact_checked_again(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        values = {"first_name": "Ermintrude", "last_name": "Hollaback-Szymborska"}
        given = Given(contact_uid="K-1", values=values, notes=[])
        (check,) = listed.run(lambda _: checks_of_new(listed.screening, cara.instance_id, [given]))
        load(listed, tmp_path, un_list([WANTED, OTHER]))

        stored = json.loads(cara.submit(create_contacts, ContactChange(caller_of(cara), given, check)))
        settle(listed)

        assert (stored["status"], stored["sanctions_check"]) == ("gray", "unchecked")
        assert contact(cara)["status"] == "red"

    def test_is_recorded_for_all_contacts(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        make_contact(cara, last_name="Kühnemund-Lohse")

        load(listed, tmp_path, un_list([WANTED, OTHER]))

        record = checks_of(cara)[-1]
        assert (record["contact_id"], record["why"]) == (0, "the list un changed")
        assert "held against 1 contacts" in record["comment"]


class TestBlockList:
    """A company's own list belongs to one instance."""

    BLOCKED = "name;uid;comment\nHinterwald & Söhne OHG;;Owes us money\n;K-77;Never again\n"

    def test_makes_the_very_name_and_uid_black_and_a_similar_one_yellow(
        self, listed: Service, cara: Member, tmp_path: Path
    ) -> None:
        load(listed, tmp_path, self.BLOCKED, source="block-list", member=cara)

        exact = make_contact(cara, "K-1", last_name="hinterwald  &  söhne ohg")
        uid = make_contact(cara, "K-77", last_name="Kühnemund-Lohse")
        similar = make_contact(cara, "K-2", last_name="Hinterwald und Soehne GmbH")

        assert [exact["status"], uid["status"], similar["status"]] == ["black", "black", "yellow"]
        assert [exact["sanctions_check"], uid["sanctions_check"]] == ["match", "match"]

    def test_compares_names_composed_and_without_what_is_invisible(
        self, listed: Service, cara: Member, tmp_path: Path
    ) -> None:
        load(listed, tmp_path, "name\nHinterwald & S\u00f6hne\n", source="block-list", member=cara)

        made = make_contact(cara, last_name="Hinterwald & So\u0308hne\u200b")

        assert made["status"] == "black"

    def test_is_seen_by_no_other_instance(self, listed: Service, cara: Member, dora: Member, tmp_path: Path) -> None:
        load(listed, tmp_path, self.BLOCKED, source="block-list", member=cara)

        made = make_contact(dora, "K-77", last_name="Hinterwald & Söhne OHG")

        assert (made["status"], made["matches"]) == ("green", [])

    def test_is_held_against_contacts_that_are_there(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        make_contact(cara, "K-77", last_name="Kühnemund-Lohse")

        load(listed, tmp_path, self.BLOCKED, source="block-list", member=cara)

        assert contact(cara, "K-77")["status"] == "black"

    def test_blocks_also_without_official_lists(self, service: Service, anna: Member, tmp_path: Path) -> None:
        load(service, tmp_path, self.BLOCKED, source="block-list", member=anna)

        blocked = make_contact(anna, "K-77", last_name="Kühnemund-Lohse")
        other = make_contact(anna, "K-1", last_name="Kühnemund-Lohse")

        assert [blocked["status"], other["status"]] == ["black", "gray"]
        assert other["sanctions_check"] == "failed"
        assert decide(anna, blocked["matches"][0]["id"], "rejected", uid="K-77") == "gray"

    def test_gives_way_to_a_decision(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        load(listed, tmp_path, self.BLOCKED, source="block-list", member=cara)
        (match,) = make_contact(cara, "K-1", last_name="Hinterwald & Söhne OHG")["matches"]

        assert decide(cara, match["id"], "rejected") == "green"


class TestNamesakes:
    """More matches than a contact shows."""

    def test_are_counted_and_keep_it_from_being_green(self, listed: Service, cara: Member, tmp_path: Path) -> None:
        lines = "".join(f"N-{number};Wolfhart Immenreuther\n" for number in range(510))
        load(listed, tmp_path, "id;name\n" + lines, source="block-list", member=cara)

        made = make_contact(cara, first_name="Wolfhardt", last_name="Immenreuther")

        assert len(made["matches"]) == 500
        assert made["sanctions_check_result"]["left_out"] == 10
        assert [decide(cara, match["id"], "rejected") for match in made["matches"][:3]] == ["yellow"] * 3


class TestSettings:
    """What an instance wants of its checks."""

    def test_change_the_answer_of_contacts_that_are_there(self, listed: Service, cara: Member) -> None:
        made = make_contact(cara, first_name="Zoltan", last_name="Quistorp")
        score = made["sanctions_check_result"]["highest_score"] or 0.0

        listed.write(cara.instance_id, lambda write: set_rules(write, set_by="op", threshold=0.5, certain=0.5))
        settle(listed)

        assert contact(cara)["status"] == "red"
        assert score < 1
        assert categories(cara)[0] == "screened"

    def test_that_name_a_list_that_is_not_loaded_make_contacts_gray(self, listed: Service, cara: Member) -> None:
        listed.write(cara.instance_id, lambda write: set_rules(write, set_by="op", sources=("un", "eu")))
        settle(listed)

        made = make_contact(cara, last_name="Kühnemund-Lohse")

        assert made["status"] == "gray"
        assert made["sanctions_check_result"]["reason"] == "The list eu is not loaded."

    @pytest.mark.parametrize(
        "wrong",
        [{"threshold": 0.4}, {"threshold": 1.1}, {"certain": 0.6}, {"most_age_days": 0}, {"sources": ("nato",)}],
    )
    def test_refuse_what_makes_no_sense(self, listed: Service, cara: Member, wrong: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            listed.write(cara.instance_id, lambda write: set_rules(write, set_by="op", **wrong))


class TestWithoutLists:
    """Without lists nothing is green."""

    def test_contacts_are_gray_and_say_why(self, anna: Member) -> None:
        made = make_contact(anna, last_name="Kühnemund-Lohse")

        assert (made["status"], made["sanctions_check"]) == ("gray", "unchecked")
        assert made["sanctions_check_result"] == {"reason": "No official sanctions list is loaded."}
