"""GET contacts: which contacts, in which order, on which page, and how many there are."""

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

from stammdaten.auth.callers import Caller
from stammdaten.contacts.operations import ContactChange, create_contacts
from stammdaten.contacts.shapes import Given
from stammdaten.store import Statement, Write, text, the_instance
from stammdaten.store.tables import clocks
from tests.cast import Member, make_contact
from tests.test_contacts_create import FULL, errors
from tests.test_contacts_find import statements

GERMANY = ZoneInfo("Europe/Berlin")
TOKYO = ZoneInfo("Asia/Tokyo")

_SET_CLOCK = Statement(update(clocks).where(the_instance(clocks)).values(contact_stamp=text("stamp")))


def _uids(member: Member, **query: object) -> list[str]:
    """Return the uids of the contacts on a page, after holding its total against them where it is the only page."""
    response = member.get("/contacts", **query)
    assert response.status_code == 200, response.text
    page = response.json()
    if page["last_page"] == 1 and page["current_page"] == 1:
        assert page["total"] == len(page["contacts"])
    return [contact["contact_uid"] for contact in page["contacts"]]


def _make_many(member: Member, uids: Sequence[str]) -> None:
    """Make contacts in one transaction."""
    caller = Caller(member.instance_id, member.prefix, 1, member.name, frozenset())
    rows = [ContactChange(caller, Given(contact_uid=uid, values={"last_name": "L"}, notes=[])) for uid in uids]
    member.service.write(member.instance_id, lambda write: create_contacts(write, rows))


def _set_clock(member: Member, stamp: str) -> None:
    """Let the instance's contact clock stand at a moment to come; the next contact gets a microsecond more."""

    async def set_clock(write: Write) -> None:
        await write.run(_SET_CLOCK, stamp=stamp)

    member.service.write(member.instance_id, set_clock)


def _at(contact: dict[str, Any], zone: ZoneInfo, *, microseconds: int = 0) -> datetime:
    """Return when a contact was updated, on the clocks of a zone."""
    moment = datetime.fromisoformat(contact["updated_at"]) + timedelta(microseconds=microseconds)
    return moment.astimezone(zone)


class TestListContacts:
    """GET contacts without filters."""

    def test_is_one_empty_page_where_there_are_none(self, anna: Member) -> None:
        response = anna.get("/contacts")

        assert response.status_code == 200
        assert response.json() == {"contacts": [], "current_page": 1, "per_page": 30, "total": 0, "last_page": 1}

    def test_shows_contacts_as_they_are_found(self, anna: Member) -> None:
        contacts = [make_contact(anna), make_contact(anna, "K-2", **{**FULL, "is_archived": False}, notes=["A note"])]

        response = anna.get("/contacts")

        assert response.json() == {
            "contacts": contacts,
            "current_page": 1,
            "per_page": 30,
            "total": 2,
            "last_page": 1,
        }

    def test_is_in_the_order_of_the_last_update(self, anna: Member) -> None:
        for uid in ("K-3", "K-1", "K-2"):
            make_contact(anna, uid)
        anna.put("/contacts/K-3", {"contact": {}})

        page = anna.get("/contacts").json()["contacts"]

        stamps = [contact["updated_at"] for contact in page]
        assert [contact["contact_uid"] for contact in page] == ["K-1", "K-2", "K-3"]
        assert stamps == sorted(set(stamps))

    def test_leaves_archived_contacts_out(self, anna: Member) -> None:
        make_contact(anna, "K-1")
        make_contact(anna, "K-2", is_archived=True)

        page = anna.get("/contacts").json()

        assert [contact["contact_uid"] for contact in page["contacts"]] == ["K-1"]
        assert page["total"] == 1

    def test_shows_and_counts_nothing_of_another_instance(self, anna: Member, bruno: Member) -> None:
        make_contact(bruno)
        make_contact(bruno, "K-2", is_archived=True, is_watchlist=True)
        queries: list[dict[str, str]] = [
            {},
            {"is_archived": "true"},
            {"is_watchlist": "true", "is_archived": "true"},
            {"search": "K"},
            {"search": "%", "is_archived": "1"},
            {"timestamp": "2001-01-01"},
            {"per_page": "500"},
        ]

        pages = [anna.get("/contacts", **query).json() for query in queries]

        assert [(page["contacts"], page["total"], page["last_page"]) for page in pages] == [([], 0, 1)] * len(queries)

    def test_ignores_parameters_it_does_not_know(self, anna: Member) -> None:
        make_contact(anna)

        response = anna.get("/contacts", list_id="x", deleted="true", city="Lund", Search="nobody")

        assert response.json()["total"] == 1

    def test_takes_the_last_of_a_parameter_given_twice(self, anna: Member) -> None:
        make_contact(anna, "K-1")
        make_contact(anna, "K-2")

        response = anna.request("GET", "/contacts?search=K-1&per_page=x&search=K-2&per_page=1")

        assert [contact["contact_uid"] for contact in response.json()["contacts"]] == ["K-2"]

    @pytest.mark.parametrize(
        "query", [{}, {"search": "K"}, {"is_watchlist": "false", "timestamp": "2001-01-01"}, {"per_page": "500"}]
    )
    @pytest.mark.parametrize("count", [1, 30, 300])
    def test_reads_with_as_many_statements_however_many_there_are(
        self, anna: Member, count: int, query: dict[str, str]
    ) -> None:
        _make_many(anna, [f"K-{number}" for number in range(count)])

        counted = statements(anna, lambda: anna.get("/contacts", **query))

        # The page and the total.
        assert counted == 2


class TestPages:
    """GET contacts: page and per_page."""

    @pytest.mark.parametrize(
        ("query", "uids", "current_page", "per_page", "last_page"),
        [
            ({}, "1234567", 1, 30, 1),
            ({"page": 2}, "", 2, 30, 1),
            ({"per_page": 1}, "1", 1, 1, 7),
            ({"per_page": 1, "page": 7}, "7", 7, 1, 7),
            ({"per_page": 3}, "123", 1, 3, 3),
            ({"per_page": 3, "page": 1}, "123", 1, 3, 3),
            ({"per_page": 3, "page": 2}, "456", 2, 3, 3),
            ({"per_page": 3, "page": 3}, "7", 3, 3, 3),
            ({"per_page": 3, "page": 4}, "", 4, 3, 3),
            ({"per_page": 6}, "123456", 1, 6, 2),
            ({"per_page": 7}, "1234567", 1, 7, 1),
            ({"per_page": 8}, "1234567", 1, 8, 1),
            ({"per_page": "007", "page": "01"}, "1234567", 1, 7, 1),
            ({"per_page": 500}, "1234567", 1, 500, 1),
            ({"per_page": 501}, "1234567", 1, 500, 1),
            ({"per_page": 501, "page": 2}, "", 2, 500, 1),
            ({"per_page": 10**9}, "1234567", 1, 500, 1),
            ({"per_page": 2**53}, "1234567", 1, 500, 1),
            ({"page": 2**31 - 1}, "", 2**31 - 1, 30, 1),
            ({"page": 2**31 - 1, "per_page": 500}, "", 2**31 - 1, 500, 1),
        ],
    )
    def test_hold_what_was_asked_for(
        self,
        anna: Member,
        query: dict[str, object],
        uids: str,
        current_page: int,
        per_page: int,
        last_page: int,
    ) -> None:
        _make_many(anna, "1234567")

        page = anna.get("/contacts", **query).json()

        assert [contact["contact_uid"] for contact in page.pop("contacts")] == list(uids)
        assert page == {
            "current_page": current_page,
            "per_page": per_page,
            "total": 7,
            "last_page": last_page,
        }

    @pytest.mark.parametrize("query", [{}, {"search": "K"}, {"is_archived": "false", "timestamp": "2001-01-01"}])
    def test_show_each_contact_once(self, anna: Member, query: dict[str, str]) -> None:
        uids = [f"K-{number}" for number in range(65)]
        _make_many(anna, uids)

        pages = [anna.get("/contacts", page=page, **query).json() for page in (1, 2, 3, 4)]

        shown = [[contact["contact_uid"] for contact in page["contacts"]] for page in pages]
        assert shown == [uids[:30], uids[30:60], uids[60:], []]
        assert {(page["total"], page["last_page"]) for page in pages} == {(65, 3)}

    @pytest.mark.parametrize(("per_page", "shown"), [(499, 499), (500, 500), (501, 500), (600, 500)])
    def test_hold_at_most_500(self, anna: Member, per_page: int, shown: int) -> None:
        _make_many(anna, [f"K-{number}" for number in range(502)])

        page = anna.get("/contacts", per_page=per_page).json()

        assert (len(page["contacts"]), page["per_page"]) == (shown, shown)
        assert (page["total"], page["last_page"]) == (502, 2)

    @pytest.mark.parametrize("name", ["page", "per_page"])
    @pytest.mark.parametrize(
        "given", ["0", "-1", "1.5", "1e1", "", " ", "+1", " 1", "x", "one", "0x1", "\uff11", "٣", "1,0", "NaN", 10**30]
    )
    def test_are_whole_numbers_from_1(self, anna: Member, name: str, given: object) -> None:
        response = anna.get("/contacts", **{name: given})

        largest = 2**31 - 1 if name == "page" else 2**53
        sentence = f"{name} must be a whole number from 1 to {largest}"
        assert response.status_code == 422
        assert response.json() == {"message": sentence, "errors": {name: [sentence]}}

    @pytest.mark.parametrize(("name", "given"), [("page", 2**31), ("page", 2**64), ("per_page", 2**53 + 1)])
    def test_end_where_numbers_do(self, anna: Member, name: str, given: int) -> None:
        response = anna.get("/contacts", **{name: given})

        assert list(errors(response)) == [name]


class TestFlags:
    """GET contacts: is_watchlist and is_archived."""

    @pytest.mark.parametrize(
        ("given", "uids"),
        [
            ("true", ["watched"]),
            ("1", ["watched"]),
            ("TRUE", ["watched"]),
            ("True", ["watched"]),
            ("false", ["plain"]),
            ("0", ["plain"]),
            ("FALSE", ["plain"]),
            ("False", ["plain"]),
            ("", ["plain", "watched"]),
            (None, ["plain", "watched"]),
        ],
    )
    def test_is_watchlist_shows_those_on_it_or_the_others(
        self, anna: Member, given: str | None, uids: list[str]
    ) -> None:
        make_contact(anna, "plain")
        make_contact(anna, "watched", is_watchlist=True)
        make_contact(anna, "watched and archived", is_watchlist=True, is_archived=True)

        shown = _uids(anna, is_watchlist=given)

        assert shown == uids

    @pytest.mark.parametrize(
        ("given", "uids"),
        [
            ("true", ["archived"]),
            ("1", ["archived"]),
            ("TRUE", ["archived"]),
            ("tRuE", ["archived"]),
            ("false", ["plain", "watched"]),
            ("0", ["plain", "watched"]),
            ("FALSE", ["plain", "watched"]),
            ("", ["plain", "watched"]),
            (None, ["plain", "watched"]),
        ],
    )
    def test_is_archived_shows_those_or_the_others(self, anna: Member, given: str | None, uids: list[str]) -> None:
        make_contact(anna, "plain")
        make_contact(anna, "watched", is_watchlist=True)
        make_contact(anna, "archived", is_archived=True)

        shown = _uids(anna, is_archived=given)

        assert shown == uids

    @pytest.mark.parametrize("name", ["is_watchlist", "is_archived"])
    @pytest.mark.parametrize("given", ["yes", "no", "on", "off", "2", "-1", "00", "01", "t", " true", "null", "wahr"])
    def test_are_refused_in_other_words(self, anna: Member, name: str, given: str) -> None:
        response = anna.get("/contacts", **{name: given})

        sentence = f"{name} must be one of true, 1, false, 0"
        assert response.status_code == 422
        assert response.json() == {"message": sentence, "errors": {name: [sentence]}}

    def test_follow_an_update(self, anna: Member) -> None:
        make_contact(anna)

        shown = []
        for flags in itertools.product((False, True), repeat=2):
            anna.put("/contacts/K-1", {"contact": dict(zip(("is_watchlist", "is_archived"), flags, strict=True))})
            shown.append(
                [
                    flags
                    for flags in itertools.product((False, True), repeat=2)
                    if _uids(anna, is_watchlist=flags[0], is_archived=flags[1])
                ]
            )

        assert shown == [[flags] for flags in itertools.product((False, True), repeat=2)]


class TestSearch:
    """GET contacts: search."""

    @pytest.mark.parametrize(
        "search", ["DE/70012", "DE/", "/70", "2", "Ada", "Lindgren", "Ada Lindgren", "da Lind", "Lund", "un", "Sweden"]
    )
    def test_looks_into_uid_full_name_city_and_country(self, anna: Member, search: str) -> None:
        make_contact(
            anna,
            "DE/70012",
            first_name="Ada",
            last_name="Lindgren",
            city="Lund",
            country_or_region="Sweden",
        )
        make_contact(anna, "x", last_name="y", city="z")

        shown = _uids(anna, search=search)

        assert shown == ["DE/70012"]

    @pytest.mark.parametrize(
        "field", ["email", "phone", "street", "postal_code", "comment", "notes", "gender", "user_name"]
    )
    def test_looks_nowhere_else(self, anna: Member, field: str) -> None:
        values: dict[str, Any] = {
            "email": "male@needle.example",
            "phone": "needle",
            "street": "needle",
            "postal_code": "needle",
            "comment": "needle",
            "notes": ["needle"],
            "gender": "male",
        }
        make_contact(anna, **values)

        shown = _uids(anna, search={"gender": "male", "user_name": "anna"}.get(field, "needle"))

        assert shown == []

    @pytest.mark.parametrize(
        "search",
        ["Berlin", "Ber%lin", "K-1Ada", "K-1%Ada", "Ada%Ber", "AdaBer", "Ada Ber", "1%lin", "%1%B%", "K-1_Ada"],
    )
    def test_never_reaches_from_one_field_into_the_next(self, anna: Member, search: str) -> None:
        make_contact(anna, "K-1", last_name="Ada", city="Ber", country_or_region="lin")

        shown = _uids(anna, search=search)

        assert shown == []

    @pytest.mark.parametrize(
        ("name", "search"),
        [
            ("Müller", "MÜLLER"),
            ("MÜLLER", "müller"),
            ("Weiß", "WEISS"),
            ("WEISS", "weiß"),
            ("GROẞE", "große"),
            ("Οδυσσεύς", "ΟΔΥΣΣΕΎΣ"),
            ("ΟΔΥΣΣΕΎΣ", "οδυσσεύς"),
            ("ΟΔΥΣΣΕΎΣ", "οδυσσεύσ"),
            ("Οδυσσεύς", "σσεύΣ"),
            ("Чайковский", "ЧАЙКОВСКИЙ"),
            ("ЁЛКИНА", "ёлкина"),
            ("Հայաստան", "ՀԱՅԱՍՏԱՆ"),
            ("თბილისი", "ᲗᲑᲘᲚᲘᲡᲘ"),
            ("İSTANBUL", "İstanbul"),
            ("istanbul", "ISTANBUL"),
            ("ŁÓDŹ", "łódź"),
            ("ﬁrma", "FIRMA"),
            ("鍵", "鍵"),
            ("𐐀", "𐐨"),
        ],
    )
    def test_takes_upper_and_lower_case_for_the_same_in_any_script(self, anna: Member, name: str, search: str) -> None:
        make_contact(anna, last_name=name)

        shown = _uids(anna, search=search)

        assert shown == ["K-1"]

    @pytest.mark.parametrize("field", ["contact_uid", "first_name", "city", "country_or_region"])
    def test_folds_the_case_of_each_field(self, anna: Member, field: str) -> None:
        fields: dict[str, Any] = {field: "ÄÖÜ"}
        make_contact(anna, **fields)

        shown = _uids(anna, search="äöü")

        assert len(shown) == 1

    @pytest.mark.parametrize(
        ("name", "search"),
        [
            ("Müller", "Muller"),
            ("Müller", "Mueller"),
            ("\u00e9", "e\u0301"),
            ("İstanbul", "istanbul"),
            ("\u0131sparta", "isparta"),
            ("Ελλάς", "ΕΛΛΑΣ"),
        ],
    )
    def test_tells_letters_apart_that_are_no_cases_of_one(self, anna: Member, name: str, search: str) -> None:
        make_contact(anna, last_name=name)

        shown = _uids(anna, search=search)

        assert shown == []

    @pytest.mark.parametrize(
        ("search", "uids"),
        [
            ("100%", ["100%", "100x"]),
            (r"100\%", ["100%"]),
            ("%00%", ["100%", "100x"]),
            ("1%%", ["100%", "100x"]),
            ("a_b", ["a_b", "axb"]),
            (r"a\_b", ["a_b"]),
            ("a__b", []),
            ("_______________", []),
            ("k\\s", ["back\\slash"]),
            ("back\\", ["back\\slash"]),
            ("\\", ["back\\slash"]),
            ("\\\\", ["back\\slash"]),
            ("k\\\\s", ["back\\slash"]),
            ("\\\\%h", ["back\\slash"]),
            (r"\\\%", []),
            (r"\\_lash", ["back\\slash"]),
            ("%", ["100%", "100x", "a_b", "axb", "back\\slash"]),
            ("_", ["100%", "100x", "a_b", "axb", "back\\slash"]),
            (r"\%", ["100%"]),
            (r"\_", ["a_b"]),
            ("a%h", ["back\\slash"]),
            ("*", []),
            ("?", []),
            ("[a]", []),
            (".", []),
            ("^a", []),
            ("'", []),
            ("' OR 1=1 --", []),
            ("A_B", ["a_b", "axb"]),
        ],
    )
    def test_takes_percent_and_underscore_for_wildcards_and_a_backslash_for_their_end(
        self, anna: Member, search: str, uids: list[str]
    ) -> None:
        for uid in ("100%", "100x", "a_b", "axb", "back\\slash"):
            make_contact(anna, uid, last_name="---")

        shown = _uids(anna, search=search)

        assert shown == uids

    @pytest.mark.parametrize(("search", "uids"), [("鍵_", ["鍵🗝鍵"]), ("_鍵", ["鍵🗝鍵"]), ("鍵_鍵", ["鍵🗝鍵"])])
    def test_takes_an_underscore_for_one_character_of_any_script(
        self, anna: Member, search: str, uids: list[str]
    ) -> None:
        make_contact(anna, "鍵🗝鍵", last_name="-")
        make_contact(anna, "鍵", last_name="-")

        shown = _uids(anna, search=search)

        assert shown == uids

    @pytest.mark.parametrize("search", ["", None])
    def test_is_not_given_where_it_is_empty(self, anna: Member, search: str | None) -> None:
        make_contact(anna)

        shown = _uids(anna, search=search)

        assert shown == ["K-1"]

    def test_takes_blanks_for_what_they_are(self, anna: Member) -> None:
        make_contact(anna, "K-1", last_name="Lindgren AB")
        make_contact(anna, "K-2", last_name="Lindgren")

        shown = [_uids(anna, search=search) for search in (" ", "n A", " Lindgren", "K-1 ")]

        assert shown == [["K-1"], ["K-1"], [], []]

    @pytest.mark.parametrize(("search", "uids"), [("x" * 255, ["K-1"]), ("%" * 255, ["K-1"]), ("ß" * 255, [])])
    def test_may_be_255_characters(self, anna: Member, search: str, uids: list[str]) -> None:
        make_contact(anna, last_name="x" * 255)

        shown = _uids(anna, search=search)

        assert shown == uids

    @pytest.mark.parametrize("search", ["x" * 256, "鍵" * 256, "x" * 5_000, "a\0b", "\0"])
    def test_is_refused_where_it_is_too_long_or_holds_nul(self, anna: Member, search: str) -> None:
        response = anna.get("/contacts", search=search)

        sentence = "search must be at most 255 characters, none of them NUL"
        assert response.status_code == 422
        assert response.json() == {"message": sentence, "errors": {"search": [sentence]}}

    @pytest.mark.parametrize("encoded", ["%FF", "%C3", "%ED%A0%80", "%", "%zz", "%0A"])
    def test_finds_nothing_by_what_is_no_text(self, anna: Member, encoded: str) -> None:
        make_contact(anna, last_name="Ã")

        response = anna.request("GET", f"/contacts?search=x{encoded}")

        assert response.status_code == 200
        assert response.json()["total"] == 0

    def test_follows_an_update(self, anna: Member) -> None:
        make_contact(anna, last_name="Lindgren")
        anna.put("/contacts/K-1", {"contact": {"last_name": "Ångström"}})

        shown = [_uids(anna, search=search) for search in ("Lindgren", "ångström")]

        assert shown == [[], ["K-1"]]


class TestTimestamp:
    """GET contacts: timestamp."""

    def test_includes_the_moment_itself(self, anna: Member) -> None:
        contacts = [make_contact(anna, uid) for uid in ("K-1", "K-2", "K-3")]

        shown = [_uids(anna, timestamp=contact["updated_at"]) for contact in contacts]

        assert shown == [["K-1", "K-2", "K-3"], ["K-2", "K-3"], ["K-3"]]

    @pytest.mark.parametrize(("microseconds", "uids"), [(-1, ["K-1"]), (0, ["K-1"]), (1, [])])
    @pytest.mark.parametrize(
        "form",
        [
            lambda contact, more: _at(contact, GERMANY, microseconds=more).replace(tzinfo=None).isoformat(),
            lambda contact, more: _at(contact, GERMANY, microseconds=more).isoformat(),
            lambda contact, more: _at(contact, TOKYO, microseconds=more).isoformat(),
            lambda contact, more: _at(contact, TOKYO, microseconds=more).isoformat().replace("+", " "),
            lambda contact, more: _at(contact, ZoneInfo("UTC"), microseconds=more).strftime("%Y%m%dT%H%M%S.%fZ"),
            lambda contact, more: _at(contact, ZoneInfo("UTC"), microseconds=more).strftime("%Y%m%dT%H%M%S,%f999+0000"),
            lambda contact, more: _at(contact, ZoneInfo("America/St_Johns"), microseconds=more).isoformat(),
        ],
        ids=["naive", "german", "tokyo", "blank", "basic", "comma", "st johns"],
    )
    def test_honours_an_offset_and_is_german_without_one(
        self, anna: Member, form: Any, microseconds: int, uids: list[str]
    ) -> None:
        contact = make_contact(anna)

        shown = _uids(anna, timestamp=form(contact, microseconds))

        assert shown == uids

    @pytest.mark.parametrize(
        ("timestamp", "uids"),
        [
            ("2035-10-28T02:30:00.000001", ["summer", "winter"]),
            ("2035-10-28T02:30:00.000002", ["winter"]),
            ("2035-10-28T02:59:59.999999", ["winter"]),
            ("2035-10-28T03:00:00", []),
            ("2035-10-28T02:30:00.000001+02:00", ["summer", "winter"]),
            ("2035-10-28T02:30:00.000001+01:00", ["winter"]),
            ("2035-10-28T02:30:00.000002+01:00", []),
        ],
    )
    def test_means_the_earlier_of_two_moments_in_the_repeated_hour(
        self, anna: Member, timestamp: str, uids: list[str]
    ) -> None:
        _set_clock(anna, "2035-10-28T00:30:00.000000Z")
        make_contact(anna, "summer")
        _set_clock(anna, "2035-10-28T01:30:00.000000Z")
        make_contact(anna, "winter")

        shown = _uids(anna, timestamp=timestamp)

        assert shown == uids

    @pytest.mark.parametrize(
        ("timestamp", "uids"),
        [
            ("2035-07-01", ["K-1"]),
            ("20350701", ["K-1"]),
            ("2035-07-02", []),
            ("2035-07-01T00", ["K-1"]),
            ("2035-07-01T00:00", ["K-1"]),
            ("2035-07-01T0001", []),
            ("2035-07-01T00:00:00.0000019", ["K-1"]),
            ("2035-07-01T00:00:00.000002", []),
            ("2035-06-30T22:00Z", ["K-1"]),
            ("2035-06-30T22:00z", ["K-1"]),
            ("2035-06-30 22:00:01Z", []),
            ("2035-06-30T22:00:00.000001-00:00", ["K-1"]),
            ("2035-06-30T21:00:00.000001-01", ["K-1"]),
            ("2035-07-01T03:30:00.000001 0530", ["K-1"]),
            ("2035-06-30T12:30-0930", ["K-1"]),
            ("2035-06-30T12:30:01-09:30", []),
            ("0001-01-02", ["K-1"]),
            ("9999-12-31T23:59:59.999999", []),
            ("", ["K-1"]),
        ],
    )
    def test_is_read_in_all_forms_of_iso_8601(self, anna: Member, timestamp: str, uids: list[str]) -> None:
        # A microsecond after midnight in Germany.
        _set_clock(anna, "2035-06-30T22:00:00.000000Z")
        make_contact(anna)

        shown = _uids(anna, timestamp=timestamp)

        assert shown == uids

    @pytest.mark.parametrize(
        ("timestamp", "uids"),
        [
            ("0001-01-01", ["K-1"]),
            ("0001-01-01T00:00:00", ["K-1"]),
            ("0001-01-01T00:00:00.0000000+00:00", ["K-1"]),
            ("0001-01-01T00:00:00+14:00", ["K-1"]),
            ("9999-12-31T23:59:59.9999999", []),
            ("9999-12-31T23:59:59.9999999Z", []),
            ("9999-12-31T23:59:59-12:00", []),
        ],
    )
    def test_may_be_the_first_or_last_moment_that_clients_know(
        self, anna: Member, timestamp: str, uids: list[str]
    ) -> None:
        make_contact(anna)

        shown = _uids(anna, timestamp=timestamp)

        assert shown == uids

    @pytest.mark.parametrize(
        "timestamp",
        [
            "yesterday",
            "now",
            " ",
            "0",
            "1763712000",
            "2026",
            "2026-11",
            "2026-W47",
            "2026-325",
            "2026-02-29",
            "2026-02-30",
            "2026-13-01",
            "2026-00-10",
            "2026-11-00",
            "0000-01-01",
            "2026-11-21T24:00",
            "2026-11-21T25:00",
            "2026-11-21T08:60",
            "2026-11-21T08:30:60",
            "2026-11-21T08:30:00.",
            "2026-11-21T08:30:00+24:00",
            "2026-11-21T08:30:00+01:60",
            "2026-11-21T08:30:00 CET",
            "2026-11-21+01:00",
            "21.11.2026",
            "11/21/2026",
            "2026-11-21T08:30:00Z; DROP TABLE contacts",
            "\uff12\uff10\uff12\uff16-11-21",
            "-2026-11-21",
            "2026-11-21\n",
            "2026-11-21\0",
            "2026-11-21T08:30:00.000000ZZ",
        ],
    )
    def test_is_refused_where_it_is_none(self, anna: Member, timestamp: str) -> None:
        response = anna.get("/contacts", timestamp=timestamp)

        sentence = "timestamp must be ISO 8601, e.g. 2026-11-21T08:30:00.000000Z"
        assert response.status_code == 422
        assert response.json() == {"message": sentence, "errors": {"timestamp": [sentence]}}

    def test_follows_an_update(self, anna: Member) -> None:
        first, second = make_contact(anna, "K-1"), make_contact(anna, "K-2")
        anna.put("/contacts/K-1", {"contact": {}})

        shown = [_uids(anna, timestamp=contact["updated_at"]) for contact in (first, second)]

        assert shown == [["K-2", "K-1"], ["K-2", "K-1"]]


class TestFilters:
    """GET contacts: filters combined, and what is wrong with them."""

    @pytest.mark.parametrize("since", [None, 3])
    @pytest.mark.parametrize("search", [None, "bERLIN", "%e%"])
    @pytest.mark.parametrize("is_archived", [None, "true", "false"])
    @pytest.mark.parametrize("is_watchlist", [None, "true", "false"])
    def test_all_hold_together(
        self,
        anna: Member,
        is_watchlist: str | None,
        is_archived: str | None,
        search: str | None,
        since: int | None,
    ) -> None:
        contacts = [
            make_contact(anna, f"{number}", last_name="L", city=city, is_watchlist=watched, is_archived=archived)
            for number, (watched, archived, city) in enumerate(
                itertools.product((False, True), (False, True), ("Berlin", "Lund"))
            )
        ]
        timestamp = None if since is None else contacts[since]["updated_at"]

        shown = _uids(anna, is_watchlist=is_watchlist, is_archived=is_archived, search=search, timestamp=timestamp)

        assert shown == [
            contact["contact_uid"]
            for contact in contacts[since or 0 :]
            if contact["is_archived"] is (is_archived == "true")
            if is_watchlist is None or contact["is_watchlist"] is (is_watchlist == "true")
            if search is None or contact["city"] == "Berlin"
        ]

    def test_are_paged_and_counted_together(self, anna: Member) -> None:
        for number in range(9):
            make_contact(anna, f"K-{number}", is_watchlist=number % 2 == 0, city="Lund" if number > 1 else "")

        page = anna.get("/contacts", is_watchlist="1", search="lund", per_page=3, page=2).json()

        assert [contact["contact_uid"] for contact in page.pop("contacts")] == ["K-8"]
        assert page == {"current_page": 2, "per_page": 3, "total": 4, "last_page": 2}

    def test_have_all_their_faults_told_at_once(self, anna: Member) -> None:
        response = anna.get(
            "/contacts",
            search="x" * 256,
            timestamp="never",
            is_watchlist="maybe",
            is_archived="2",
            page=0,
            per_page=-1,
        )

        listed = errors(response)
        assert listed.keys() == {"search", "timestamp", "is_watchlist", "is_archived", "page", "per_page"}
        assert all(len(sentences) == 1 for sentences in listed.values())


class TestTotal:
    """GET contacts: the total, with and without counting."""

    def test_follows_every_change(self, anna: Member) -> None:
        def totals() -> tuple[int, ...]:
            kept = [anna.get("/contacts", is_archived=word).json()["total"] for word in ("false", "true")]
            counted = [
                anna.get("/contacts", is_archived=word, timestamp="2001-01-01").json()["total"]
                for word in ("false", "true")
            ]
            return (*kept, *counted)

        seen = [totals()]
        for method, path, body in [
            ("POST", "/contacts", {"contact": {"contact_uid": "K-1", "last_name": "L"}}),
            ("POST", "/contacts", {"contact": {"contact_uid": "K-1", "last_name": "L"}}),
            ("POST", "/contacts", {"contact": {"contact_uid": "K-2", "last_name": "L", "is_archived": True}}),
            ("PUT", "/contacts/K-1", {"contact": {"is_archived": True}}),
            ("PUT", "/contacts/K-1", {"contact": {"is_archived": True, "is_watchlist": True}}),
            ("PUT", "/contacts/K-2", {"contact": {"is_archived": False}}),
            ("PUT", "/contacts/K-2", {"contact": {"is_archived": "x"}}),
            ("DELETE", "/contacts/K-1", None),
            ("DELETE", "/contacts/K-1", None),
            ("DELETE", "/contacts/K-2", None),
        ]:
            anna.request(method, path, json=body)
            seen.append(totals())

        current_and_archived = [(0, 0), (1, 0), (1, 0), (1, 1), (0, 2), (0, 2), (1, 1), (1, 1), (1, 0), (1, 0), (0, 0)]
        assert seen == [(*both, *both) for both in current_and_archived]


class TestRefusedList:
    """GET contacts: other refusals."""

    @pytest.mark.parametrize("query", [{}, {"page": "0"}])
    def test_is_403_without_the_role(self, anna: Member, no_role: Member, query: dict[str, str]) -> None:
        make_contact(anna)

        response = no_role.get("/contacts", **query)

        assert response.status_code == 403
        assert response.json() == {"message": "This action needs the role api-user."}

    @pytest.mark.parametrize("query", ["", "?page=0"])
    def test_is_401_without_a_token(self, anna: Member, query: str) -> None:
        response = anna.service.request("GET", f"/api/{anna.prefix}/v1/contacts{query}")

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert list(response.json()) == ["message"]

    def test_is_403_with_a_token_of_another_instance(self, anna: Member, bruno: Member) -> None:
        make_contact(anna)

        response = anna.service.request(
            "GET", f"/api/{anna.prefix}/v1/contacts", headers={"Authorization": f"Bearer {bruno.token}"}
        )

        assert response.status_code == 403
        assert response.json() == {"message": "This token is not for this prefix."}

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
    def test_is_405_with_a_method_that_is_none(self, anna: Member, method: str) -> None:
        response = anna.request(method, "/contacts")

        assert response.status_code == 405
        assert {"GET", "POST"} <= set(response.headers["allow"].split(", "))
        assert list(response.json()) == ["message"]

    @pytest.mark.parametrize("path", ["/contacts/", "/contacts//", "/contacts/?page=1"])
    def test_is_404_with_a_slash_at_the_end(self, anna: Member, path: str) -> None:
        response = anna.request("GET", path)

        assert response.status_code == 404
        assert list(response.json()) == ["message"]
