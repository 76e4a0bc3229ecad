"""Files over HTTP: what is taken and refused, what an import says of itself, and what an export holds.

What happens byte by byte, who is slow, cut off or goes away, is in `test_uploads.py`.
"""

import asyncio
import csv
import io
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from stammdaten.clock import utc_now, utc_stamp
from stammdaten.exchange.columns import HEADER
from stammdaten.exchange.daily import EXPORT_DAILY
from stammdaten.exchange.orders import BY_HTTP, Import, imports_folder, report_file
from stammdaten.exchange.reporting import REPORT_HEADER, write_report
from stammdaten.exchange.rows import Remark
from stammdaten.exchange.tables import imports
from stammdaten.exchange.working import exchange_worker
from stammdaten.jobs.queue import ask
from stammdaten.lists.operations import delete_list
from stammdaten.products.standing import Eccns, record_eccns
from stammdaten.settings import Settings
from stammdaten.store import Store
from tests.cast import Member, Service, found_product, make_list, make_product
from tests.processes import PATIENCE, wait_until

SLUG = "spare-parts"
ROLES = ("client-admin", "extended-clerk", "clerk", "article-processor", "auditor", "auditor-internal", "api-user")
WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
HOSTILE = ["%00", "%2e%2e", "..%2F..%2Fetc", "spare%2Dparts%00", "Spare-Parts", "x" * 9000, "%ff", "ü", "%20", "*"]
FULL_REPORT = f"{';'.join(REPORT_HEADER)}\r\n"


def upload(member: Member, body: Any, *, slug: str = SLUG, **query: str) -> httpx.Response:
    """Send a file."""
    return member.request("POST", f"/lists/{slug}/import", content=body, params=query)


def ended(member: Member, ordered: httpx.Response) -> dict[str, Any]:
    """Ask for an import until it is over; return it."""
    assert ordered.status_code == 202, ordered.text
    found: dict[str, Any] = {}

    def is_over() -> bool:
        found.update(member.get(f"/imports/{ordered.json()['import']['id']}").json()["import"])
        return found["state"] in {"done", "failed"}

    wait_until(is_over)
    return found


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    """Return how many rows were created, updated, unchanged and refused."""
    return tuple(found[name] for name in ("created", "updated", "unchanged", "refused"))


def kept(member: Member) -> list[str]:
    """Return what is kept of a member's uploads."""
    folder = imports_folder(member.service.settings.home, member.instance_id)
    return sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []


def remember(member: Member, *, import_id: int = 1, **fields: Any) -> Path:
    """Store how an import stands, as the job does; return where its report belongs."""
    standing = Import(import_id, SLUG, "", BY_HTTP, 1, member.name, is_dry_run=False)
    standing = standing._replace(created_at="2026-03-02T08:15:42.118204Z", **fields)
    member.service.write(member.instance_id, lambda write: write.insert(imports, [standing]))
    file = report_file(member.service.settings.home, member.instance_id, import_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


class TestImportList:
    """POST /lists/{slug}/import."""

    def test_imports_rows_and_reports_those_it_refuses(self, anna: Member) -> None:
        body = "article_number;description1;is_prio\nA-1;Größe;1\nA-2;Nut;yes\n=A;Pin;x\n".encode()

        ordered = upload(anna, body)

        waiting, found = ordered.json()["import"], ended(anna, ordered)
        assert found["finished_at"] > waiting["created_at"]
        assert waiting == {
            **dict.fromkeys(("line", "created", "updated", "unchanged", "refused", "warnings"), 0),
            "id": found["id"],
            "slug": SLUG,
            "file_name": "",
            "origin": "http",
            "is_dry_run": False,
            "state": "waiting",
            "lines": None,
            "encoding": "",
            "error": "",
            "report": [],
            "user_name": "anna",
            "user_id": waiting["user_id"],
            "created_at": found["created_at"],
            "finished_at": None,
        }
        wrong = {"column": "is_prio", "allowed": "1 or 0; empty is not given"}
        assert found == {
            **waiting,
            "state": "done",
            "line": 4,
            "lines": 4,
            "created": 1,
            "refused": 2,
            "encoding": "utf-8",
            "finished_at": found["finished_at"],
            "report": [
                {"line": 3, "article_number": "A-2", "what": "is neither 1 nor 0: 'yes'", **wrong},
                {"line": 4, "article_number": "=A", "what": "is neither 1 nor 0: 'x'", **wrong},
            ],
        }
        report = anna.get(f"/imports/{found['id']}/report")
        assert [line["article_number"] for line in csv.DictReader(io.StringIO(report.text), delimiter=";")] == [
            "A-2",
            "'=A",
        ]
        assert found_product(anna, "A-1")["data"][0]["designation"] == "Größe"
        # It is over before its file is removed.
        wait_until(lambda: kept(anna) == [f"{found['id']}.report.csv"])

    def test_refuses_a_parameter_that_is_misspelt(self, anna: Member) -> None:
        answer = upload(anna, "article_number;description1\nA-1;x\n", dryrun="true")

        assert (answer.status_code, answer.json()) == (
            400,
            {"reason": "dryrun is no parameter of an import; dry_run is"},
        )

    def test_tries_a_file_in_pieces_and_another_encoding(self, anna: Member) -> None:
        """Nothing announces its length; Windows-1252 is seen from its content."""
        pieces = ["article_number;description1\r\n", "A-1;Grö", "ße\r\n"]

        found = ended(anna, upload(anna, (piece.encode("cp1252") for piece in pieces), dry_run="True"))

        assert (found["state"], counts(found), found["encoding"]) == ("done", (1, 0, 0, 0), "windows-1252")
        assert found["is_dry_run"]
        assert anna.get("/products", timestamp="1970-01-01").json() == {"products": []}

    @pytest.mark.parametrize("roles", [[], *([role] for role in ROLES), ["auditor", "client-admin"]], ids=" ".join)
    def test_needs_one_of_two_roles(self, service: Service, anna: Member, roles: list[str]) -> None:
        """Who has none learns that before the body is looked at, which is empty here."""
        member = service.colleague(anna, "somebody", roles=roles)

        response = upload(member, b"")
        elsewhere = upload(member, b"", slug="no-such-list")

        if {"client-admin", "api-user"} & set(roles):
            assert (response.status_code, elsewhere.status_code) == (400, 404)
            assert response.json() == {"reason": "The body must be the file; it is empty."}
        else:
            expected = (403, {"reason": "Importing a file needs the role client-admin or api-user."})
            assert [(each.status_code, each.json()) for each in (response, elsewhere)] == [expected] * 2
        assert kept(anna) == []

    @pytest.mark.parametrize("slug", ["no-such-list", "gone", *HOSTILE])
    def test_needs_a_list(self, anna: Member, slug: str) -> None:
        list_id = make_list(anna, "Gone")
        anna.service.write(anna.instance_id, lambda write: delete_list(write, list_id=list_id))

        response = upload(anna, b"article_number\nA-1\n", slug=slug)

        assert (response.status_code, response.json()) == (404, {"reason": "There is no product list of this slug."})
        assert kept(anna) == []

    def test_finds_no_list_of_another_instance(self, anna: Member, bruno: Member) -> None:
        make_list(anna, "Secret")

        responses = [upload(bruno, b"x", slug=slug) for slug in ("secret", "nowhere")]

        assert [response.status_code for response in responses] == [404, 404]
        assert len({response.text for response in responses}) == 1

    def test_refuses_what_is_too_large(self, copied: Callable[[], Settings]) -> None:
        """By its length, or once it has grown; the last that fits is an import."""
        with Service(replace(copied(), import_limit=40)) as service:
            anna = service.member("anna", roles=["api-user"])
            announced = upload(anna, b"x" * 41)
            grown = upload(anna, iter([b"x" * 40, b"x"]))
            after = kept(anna)

            taken = upload(anna, b"article_number;description1\nA-1;Bolt\n   ")

            expected = (413, {"reason": "The body must not be larger than 40 bytes."})
            assert [(each.status_code, each.json()) for each in (announced, grown)] == [expected] * 2
            assert after == []
            assert taken.status_code == 202


class TestShowImport:
    """GET /imports/{import_id} and its report."""

    def test_is_for_every_member(self, anna: Member, auditor: Member, no_role: Member) -> None:
        remember(anna, state="running", line=7)

        answers = [member.get("/imports/1") for member in (anna, auditor, no_role)]

        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.text for answer in answers}) == 1
        assert answers[0].json()["import"]["line"] == 7

    @pytest.mark.parametrize("path", ["", "/report"])
    @pytest.mark.parametrize(
        "given", ["2", "0", "-1", "01x", "1.0", "%31%00", "٣", "9" * 16, "9" * 400, "9007199254740993", "%ff", "1e3"]
    )
    def test_is_of_an_id_that_exists(self, anna: Member, given: str, path: str) -> None:
        remember(anna)

        response = anna.get(f"/imports/{given}{path}")

        assert (response.status_code, response.json()) == (404, {"reason": "There is no import of this id."})

    def test_is_not_for_another_instance(self, anna: Member, bruno: Member) -> None:
        remember(anna)

        responses = [bruno.get(f"/imports/{number}{path}") for number in (1, 2) for path in ("", "/report")]

        assert {(each.status_code, each.text) for each in responses} == {
            (404, '{"reason":"There is no import of this id."}')
        }

    def test_tells_no_more_than_what_was_stored(self, anna: Member) -> None:
        """What stands behind that in the report belongs to rows that may never be stored."""
        file = remember(anna, state="running", report_bytes=0)
        remarks = [Remark(number, f"A-{number}", "is_prio", "what", "allowed") for number in range(2, 203)]
        length = write_report(file, remarks[:1], after=0)
        write_report(file, remarks[1:], after=length)
        nothing = anna.get("/imports/1/report").text, anna.get("/imports/1").json()["import"]["report"]
        standing = Import(1, SLUG, "", BY_HTTP, 1, "anna", is_dry_run=False, report_bytes=length)
        standing = standing._replace(state="running", created_at="2026-03-02T08:15:42.118204Z")
        anna.service.write(anna.instance_id, lambda write: write.update(imports, [standing]))

        report, shown = anna.get("/imports/1/report").text, anna.get("/imports/1").json()["import"]["report"]

        assert nothing == (FULL_REPORT, [])
        assert report == f"{FULL_REPORT}2;A-2;is_prio;what;allowed\r\n"
        assert [line["article_number"] for line in shown] == ["A-2"]

    def test_reports_the_first_hundred_as_they_were_written(self, anna: Member) -> None:
        odd = ["=1+1", "'=x", "a\rb", "a\nb", 'a"b', "a;b", "\0", "x" * 300, "🔩"]
        numbers = odd + [f"A-{number}" for number in range(200)]
        file = report_file(anna.service.settings.home, anna.instance_id, 1)
        length = write_report(file, [Remark(2, number, "", "-what", "allowed") for number in numbers], after=0)
        remember(anna, state="done", report_bytes=length)

        report = anna.get("/imports/1").json()["import"]["report"]

        assert [line["article_number"] for line in report] == [number[:255] for number in numbers[:100]]
        assert report[0] == {"line": 2, "article_number": "=1+1", "column": "", "what": "-what", "allowed": "allowed"}

    def test_reports_nothing_where_the_file_is_gone(self, anna: Member) -> None:
        remember(anna, state="done", report_bytes=500)

        shown, report = anna.get("/imports/1"), anna.get("/imports/1/report")

        assert shown.json()["import"]["report"] == []
        assert report.text == FULL_REPORT
        assert report.headers["content-type"] == "text/csv; charset=utf-8"
        assert report.headers["content-disposition"] == 'attachment; filename="import-1.report.csv"'


class TestExportList:
    """GET /lists/{slug}/export."""

    def test_comes_back_without_any_change(self, anna: Member) -> None:
        make_product(anna, "=1+1", designation="-Bolt", designation2="'@x", feature1='say "hi"; now', is_prio=True)
        make_product(anna, "Ü-2", country_of_origin={"made_in": "DE"}, eccn_comment="a\nb")
        before = anna.get("/products", timestamp="1970-01-01").json()

        exported = anna.get(f"/lists/{SLUG}/export")
        workbook = anna.get(f"/lists/{SLUG}/export", format="xlsx")
        found, found_again = (ended(anna, upload(anna, each.content)) for each in (exported, workbook))

        assert exported.headers["content-type"] == "text/csv; charset=utf-8"
        name = re.fullmatch(r'attachment; filename="(.*)"', exported.headers["content-disposition"])
        assert name
        assert re.fullmatch(rf"stammdaten___{SLUG}\.\d{{4}}(\.\d\d){{4}}\.csv", name[1])
        assert workbook.headers["content-type"] == WORKBOOK_TYPE
        assert workbook.headers["content-disposition"].endswith('.xlsx"')
        assert [(counts(each), each["encoding"], each["report"]) for each in (found, found_again)] == [
            ((0, 0, 2, 0), "utf-8", []),
            ((0, 0, 2, 0), "xlsx", []),
        ]
        assert not list(anna.service.settings.home.glob("exports/*"))
        assert anna.get("/products", timestamp="1970-01-01").json() == before

    def test_refuses_a_parameter_that_it_does_not_know(self, anna: Member) -> None:
        """It would be the whole list, in place of what was wanted."""
        answer = anna.get(f"/lists/{SLUG}/export", since="2026-01-01")

        assert (answer.status_code, answer.json()) == (
            400,
            {"reason": "since is no parameter of an export; timestamp and format are"},
        )

    def test_is_of_one_list_and_one_instance(self, anna: Member, bruno: Member, no_role: Member) -> None:
        make_list(anna, "Beyond")
        make_product(anna, "A-1")
        make_product(bruno, "B-1")

        texts = [no_role.get(f"/lists/{slug}/export").text for slug in (SLUG, "beyond")]

        header = f"{';'.join(HEADER)}\r\n"
        assert texts[0].startswith(f"{header}A-1;")
        assert texts[0].count("\r\n") == 2
        assert texts[1] == header

    def test_has_what_changed_strictly_after_a_timestamp(self, anna: Member) -> None:
        make_product(anna, "A-1")
        stamp = found_product(anna, "A-1")["updated_at"]
        make_product(anna, "A-2")

        after, all_of_it, none = (
            anna.get(f"/lists/{SLUG}/export", timestamp=given).text.splitlines()[1:]
            for given in (stamp, "", "9999-12-31")
        )

        assert [line.partition(";")[0] for line in after] == ["A-2"]
        assert [line.partition(";")[0] for line in all_of_it] == ["A-1", "A-2"]
        assert none == []

    @pytest.mark.parametrize("form", ["csv", "xlsx"])
    def test_refuses_a_workbook_that_cannot_be(self, anna: Member, form: str) -> None:
        """Its cells hold 32,767 characters; ours less, but for the codes that the staff add."""
        make_product(anna, "A-1")
        anna.submit(record_eccns, Eccns("A-1", "anna", ("3A225",) * 7_000, ""))

        response = anna.get(f"/lists/{SLUG}/export", format=form)

        assert response.status_code == (200 if form == "csv" else 400)
        if form == "xlsx":
            assert response.json()["reason"].startswith("format cannot be xlsx here: Article A-1 has a text")
        assert not list(anna.service.settings.home.glob("exports/*"))

    @pytest.mark.parametrize(
        ("query", "reason"),
        [
            ({"timestamp": "yesterday"}, "timestamp must be ISO 8601, e.g. 2026-11-21T09:30:00.000000"),
            ({"timestamp": "2026-02-30"}, "timestamp must be ISO 8601, e.g. 2026-11-21T09:30:00.000000"),
            ({"format": "pdf"}, "format must be one of csv, xlsx"),
            ({"format": "CSV\0"}, "format must be one of csv, xlsx"),
        ],
    )
    def test_refuses_a_wrong_query(self, anna: Member, query: dict[str, str], reason: str) -> None:
        response = anna.get(f"/lists/{SLUG}/export", **query)

        assert (response.status_code, response.json()) == (400, {"reason": reason})

    @pytest.mark.parametrize("slug", ["no-such-list", "gone", *HOSTILE])
    def test_needs_a_list(self, anna: Member, bruno: Member, slug: str) -> None:
        list_id = make_list(anna, "Gone")
        make_list(bruno, "No such list")
        anna.service.write(anna.instance_id, lambda write: delete_list(write, list_id=list_id))

        response = anna.get(f"/lists/{slug}/export")

        assert (response.status_code, response.json()) == (404, {"reason": "There is no product list of this slug."})


class TestExportingDaily:
    """The daily job, as far as it tidies up after uploads."""

    def test_removes_what_was_left_of_uploads_the_day_before(self, anna: Member) -> None:
        """A process that was killed amid one could not; one that goes on is of today."""
        home = anna.service.settings.home
        folder = imports_folder(home, anna.instance_id)
        folder.mkdir(parents=True)
        for name in (".upload-old", ".upload-new", "1.given"):
            (folder / name).write_bytes(b"x")
        for name in (".upload-old", "1.given"):
            os.utime(folder / name, (time.time() - 100_000,) * 2)

        async def tidy(store: Store) -> None:
            await ask(store, kind=EXPORT_DAILY, key=f"of {anna.prefix}", now=utc_stamp(utc_now()))
            worker = exchange_worker(store, home)
            async with asyncio.timeout(PATIENCE):
                # The app's own may be the one that takes it.
                while (folder / ".upload-old").exists():
                    if not await worker.work_once():
                        await asyncio.sleep(0.05)

        anna.service.run(tidy)

        assert kept(anna) == [".upload-new", "1.given"]
