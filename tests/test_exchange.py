"""Articles in files: what an import makes of each row, what it reports, and that an export comes back unchanged."""

import asyncio
import csv
import gzip
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stammdaten.auth.callers import Caller
from stammdaten.auth.operations import create_account
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.classification.shapes import read_classification
from stammdaten.exchange.columns import BY_NAME, HEADER, IMPORTED, Column, plain, safe
from stammdaten.exchange.exporting import export_name, exported
from stammdaten.exchange.orders import BY_COMMAND, Given, Import, import_by_id, order_import, report_file
from stammdaten.exchange.tables import imports
from stammdaten.exchange.working import exchange_worker
from stammdaten.lists.operations import create_list
from stammdaten.products.queries import live_products
from stammdaten.products.standing import Classifying, Deed, classify_products, delete_products
from stammdaten.refusals import NotFound
from stammdaten.settings import Settings
from stammdaten.store import Store, open_store
from tests.cast import Member, caller_of, found_product, make_list, make_product
from tests.processes import PATIENCE, command

SLUG = "spare-parts"
# How an export is named, for `strptime`.
NAMED = f"stammdaten___{SLUG}.%Y.%m.%d.%H.%M.csv"
MINIMAL = "article_number;description1;description2;feature1;feature2;feature3;feature4;feature5;feature6;is_prio;"
MINIMAL += "manufacturer;archive"


def imported(
    member: Member, folder: Path, text: str | bytes, *, slug: str = SLUG, is_dry_run: bool = False
) -> tuple[Import, list[dict[str, str]]]:
    """Import a file as the command does; return what came of it, and the report."""
    file = folder / "given.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    home = member.service.settings.home

    async def run(store: Store) -> tuple[Import, list[dict[str, str]]]:
        given = Given(file, slug, "given.csv", BY_COMMAND, is_dry_run)
        ordered = await order_import(store, caller_of(member), given, home=home)
        return await finished(store, member.instance_id, ordered.id, home)

    return member.service.run(run)


async def finished(store: Store, instance_id: int, import_id: int, home: Path) -> tuple[Import, list[dict[str, str]]]:
    """Do the import, or wait for the app's own worker; return what came of it, and the report."""
    worker = exchange_worker(store, home)
    async with asyncio.timeout(PATIENCE):
        while True:
            async with store.reading(instance_id) as read:
                found = await import_by_id(read, import_id)
            assert found is not None
            if found.is_over:
                with report_file(home, instance_id, import_id).open(newline="") as report:
                    return found, list(csv.DictReader(report, delimiter=";"))
            if not await worker.work_once():
                await asyncio.sleep(0.05)


def counts(ended: Import) -> tuple[int, int, int, int]:
    """Return how many rows were created, updated, unchanged and refused."""
    return ended.created, ended.updated, ended.unchanged, ended.refused


def export(member: Member, *, list_id: int | None = None, since: str = "") -> list[dict[str, str]]:
    """Export a list and read it as a spreadsheet would."""

    async def run(store: Store) -> bytes:
        wanted = list_id or member.list_id
        return b"".join([part async for part in exported(store, member.instance_id, list_id=wanted, since=since)])

    lines = member.service.run(run).decode().splitlines(keepends=True)
    return list(csv.DictReader(lines, delimiter=";"))


class TestImport:
    """One file, row by row."""

    def test_creates_updates_and_leaves_alone(self, anna: Member, tmp_path: Path) -> None:
        first = f"{MINIMAL}\nA-1;Bolt;zinc;a;;;;;;1;Bosch;\nA-2;Nut;;;;;;;;0;;\n"
        created, _ = imported(anna, tmp_path, first)
        again, _ = imported(anna, tmp_path, first)
        before = found_product(anna, "A-1")
        changed, _ = imported(anna, tmp_path, first.replace("A-2;Nut", "A-2;Hex nut"))

        assert counts(created) == (2, 0, 0, 0)
        assert counts(again) == (0, 0, 2, 0)
        assert counts(changed) == (0, 1, 1, 0)
        assert found_product(anna, "A-1") == before
        data = found_product(anna, "A-2")["data"][0]
        assert (data["designation"], data["is_prio"]) == ("Hex nut", False)

    def test_says_of_every_row_what_is_wrong_and_allowed(self, anna: Member, tmp_path: Path) -> None:
        text = (
            "article_number;description1;is_prio;type_of_sourcing;country_of_origin_made_in;archive\n"
            "A-1;Bolt;2;;;\nA-2;;1;;;\nA-3;Nut;;Q;;\nA-4;Pin;;;ZZ;\nA-5;Rod;;;;yes\n;Key;;;;\nA-7;Cog\n"
        )

        ended, report = imported(anna, tmp_path, text)

        assert counts(ended) == (1, 0, 0, 6)
        assert ended.warnings == 1
        assert [(line["line"], line["article_number"], line["column"]) for line in report] == [
            ("2", "A-1", "is_prio"),
            ("3", "A-2", "description1"),
            ("4", "A-3", "type_of_sourcing"),
            ("5", "A-4", "country_of_origin_made_in"),
            ("6", "A-5", "archive"),
            ("7", "", "article_number"),
            ("8", "", ""),
        ]
        assert report[0]["what"] == "is neither 1 nor 0: '2'"
        assert report[0]["allowed"] == BY_NAME["is_prio"].allowed

    def test_clears_by_an_empty_cell_and_keeps_by_an_absent_column(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "A-1", designation2="zinc", vendor="Bosch", is_prio=True)

        ended, _ = imported(anna, tmp_path, "is_prio;description2;article_number\n;;A-1\n")

        assert counts(ended) == (0, 1, 0, 0)
        data = found_product(anna, "A-1")["data"][0]
        assert (data["designation2"], data["vendor"], data["is_prio"]) == ("", "Bosch", True)

    def test_needs_a_designation_for_a_new_article_alone(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "A-1")

        ended, report = imported(anna, tmp_path, "article_number;manufacturer\nA-1;Bosch\nA-2;Bosch\n")

        assert counts(ended) == (0, 1, 0, 1)
        assert [(line["line"], line["column"]) for line in report] == [("3", "description1")]

    def test_archives_and_brings_back(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "A-1")

        archived, _ = imported(anna, tmp_path, "article_number;archive\nA-1;1\n")
        listed = anna.get("/products", timestamp="1970-01-01").json()["products"]
        back, _ = imported(anna, tmp_path, "article_number;archive\nA-1;0\n")

        assert (counts(archived), counts(back)) == ((0, 1, 0, 0), (0, 1, 0, 0))
        assert listed == []
        assert len(anna.get("/products", timestamp="1970-01-01").json()["products"]) == 1

    def test_refuses_an_article_of_another_list_by_its_name(self, anna: Member, tmp_path: Path) -> None:
        make_list(anna, "Raw Materials")
        make_product(anna, "A-1")

        ended, report = imported(anna, tmp_path, "article_number;description1\nA-1;Bolt\n", slug="raw-materials")

        assert counts(ended) == (0, 0, 0, 1)
        assert "'Spare Parts'" in report[0]["what"]

    def test_creates_a_deleted_article_anew(self, anna: Member, tmp_path: Path) -> None:
        old = make_product(anna, "A-1")
        anna.submit(delete_products, Deed("A-1", "anna"))

        ended, _ = imported(anna, tmp_path, "article_number;description1\nA-1;Bolt\n")

        assert counts(ended) == (1, 0, 0, 0)
        assert found_product(anna, "A-1")["id"] != old

    @pytest.mark.parametrize("number", ["A-1", " A-1"])
    def test_applies_rows_of_one_article_in_order(self, anna: Member, tmp_path: Path, number: str) -> None:
        make_product(anna, "A-1", designation="Bolt")

        ended, _ = imported(anna, tmp_path, f"article_number;description1\n{number};Nut\nA-1;Bolt\n")

        assert counts(ended) == (0, 2, 0, 0)
        assert found_product(anna, "A-1")["data"][0]["designation"] == "Bolt"

    def test_asks_for_a_review_where_the_classification_rests_on_it(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "A-1")
        record = read_classification({"type": "manual", "ctn": "73181595"}, today="2026-01-01")
        anna.submit(classify_products, Classifying("A-1", "anna", record))

        imported(anna, tmp_path, "article_number;feature1\nA-1;stainless\n")

        assert found_product(anna, "A-1")["data"][0]["status"] == "review"

    def test_stores_nothing_when_dry(self, anna: Member, tmp_path: Path) -> None:
        ended, _ = imported(anna, tmp_path, "article_number;description1\nA-1;Bolt\nA-2;\n", is_dry_run=True)

        assert counts(ended) == (1, 0, 0, 1)
        assert anna.get("/products", timestamp="1970-01-01").json()["products"] == []

    def test_is_of_one_instance(self, anna: Member, bruno: Member, tmp_path: Path) -> None:
        make_product(bruno, "A-1", designation="Bruno's")

        imported(anna, tmp_path, "article_number;description1\nA-1;Anna's\n")

        assert found_product(bruno, "A-1")["data"][0]["designation"] == "Bruno's"
        assert found_product(anna, "A-1")["data"][0]["designation"] == "Anna's"

    def test_needs_a_list(self, anna: Member, tmp_path: Path) -> None:
        with pytest.raises(NotFound):
            imported(anna, tmp_path, "article_number\nA-1\n", slug="no-such-list")


class TestFiles:
    """What a file may look like."""

    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("article_number;description1\nA-1;Größe\n".encode(), "utf-8"),
            ("\ufeffarticle_number;description1\r\nA-1;Größe\r\n".encode(), "utf-8"),
            ("article_number;description1\nA-1;Größe\n".encode("cp1252"), "windows-1252"),
            (b'"article_number";"description1"\n\n"A-1";"Gr\xc3\xb6\xc3\x9fe"\n\n', "utf-8"),
            ("\n;\narticle_number;description1\n;\nA-1;Größe\n;\n;;;\n".encode(), "utf-8"),
        ],
    )
    def test_may_have_these_encodings_and_line_ends(
        self, anna: Member, tmp_path: Path, text: bytes, encoding: str
    ) -> None:
        ended, _ = imported(anna, tmp_path, text)

        assert (counts(ended), ended.encoding) == ((1, 0, 0, 0), encoding)
        assert found_product(anna, "A-1")["data"][0]["designation"] == "Größe"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "The file is empty; it must begin with a header"),
            ("description1\nBolt\n", "The header must name the column article_number."),
            ("article_number;article_number\nA-1;A-1\n", "The header names article_number twice."),
            ("article_number;colour\nA-1;red\n", "The header names 'colour'; it must name columns"),
            ("Article_Number\nA-1\n", "must be article_number, in lower case"),
            ("article_number,description1\nA-1,Bolt\n", "must have semicolons, not commas"),
            ("--f\r\nContent-Disposition: form-data\r\n", "The body must be the file itself"),
            ("<html><body>502</body></html>", "The header names '<html>"),
            (gzip.compress(b"article_number\nA-1\n", mtime=0), "The file is compressed"),
            ("article_number;description1\nA-1;Größe\n".encode("utf-16"), "The file is UTF-16"),
        ],
    )
    @pytest.mark.parametrize("is_dry_run", [False, True])
    def test_are_refused_whole_with_another_beginning(
        self,
        anna: Member,
        tmp_path: Path,
        text: str | bytes,
        said: str,
        is_dry_run: bool,  # noqa: FBT001 - a table
    ) -> None:
        ended, report = imported(anna, tmp_path, text, is_dry_run=is_dry_run)

        assert (ended.state, counts(ended)) == ("failed", (0, 0, 0, 0))
        assert said in ended.error
        nothing = "a dry run stores nothing" if is_dry_run else "nothing of it was imported"
        assert [(line["line"], line["what"], line["allowed"].partition("; ")[2]) for line in report] == [
            ("1", ended.error, nothing)
        ]

    @pytest.mark.parametrize(
        ("broken", "line", "said"),
        [
            ('A-2;"Nut" and bolt\n', "3", "Line 3 cannot be read: behind a closing quotation mark, a semicolon or"),
            ('A-2;"Nut\nand bolt\n', "4", "Line 4 cannot be read: a quotation mark is not closed."),
            ("A-2;Nut\rA-3;Nut\n", "3", "Line 3 cannot be read: lines must end with CRLF or LF."),
        ],
    )
    def test_say_how_far_they_came_when_they_break_off(
        self, anna: Member, tmp_path: Path, broken: str, line: str, said: str
    ) -> None:
        ended, report = imported(anna, tmp_path, f"article_number;description1\nA-1;Bolt\n{broken}")

        assert (ended.state, counts(ended), ended.line) == ("failed", (1, 0, 0, 0), 2)
        assert ended.error.startswith(said)
        assert [(each["line"], each["what"], each["allowed"]) for each in report] == [
            (line, ended.error, "the rows up to line 2 are done, and change nothing when they are sent again")
        ]

    def test_are_said_to_be_read_as_windows_1252(self, anna: Member, tmp_path: Path) -> None:
        ended, report = imported(anna, tmp_path, "article_number;description1\nA-1;Größe\n".encode("cp1252"))

        assert ended.warnings == 1
        assert [(line["line"], line["what"]) for line in report] == [
            ("1", "the file is read as windows-1252, since it is no UTF-8")
        ]

    def test_keep_their_umlauts_when_they_are_cut_amid_one(self, anna: Member, tmp_path: Path) -> None:
        whole = "article_number;description1\nA-1;Größe\nA-2;Tür\nA-3;Grö".encode()

        ended, report = imported(anna, tmp_path, whole[:-1])

        assert (ended.state, ended.encoding, counts(ended)) == ("failed", "utf-8", (2, 0, 0, 0))
        assert found_product(anna, "A-1")["data"][0]["designation"] == "Größe"
        assert [(line["line"], line["what"]) for line in report] == [
            ("4", "Line 4 is no utf-8, as which the file is read.")
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (b"article_number;description1\nA-1;Bolt\nA-2;Gr\xc3\xb6\xdf\n", "Line 3 is no utf-8"),
            (b"article_number;description1\nA-1;Bolt\nA-2;Gr\xf6\xdfe\x81\n", "Line 3 is no windows-1252"),
        ],
    )
    def test_are_refused_from_where_they_have_another_encoding(
        self, anna: Member, tmp_path: Path, text: bytes, said: str
    ) -> None:
        ended, report = imported(anna, tmp_path, text)

        assert ended.state == "failed"
        assert said in ended.error
        assert report[-1]["what"] == ended.error
        assert (report[-1]["line"], ended.line) == ("3", 2)

    @pytest.mark.parametrize("endless", ["x" * (2 << 20), '"x\n";' * (1 << 18)])
    def test_end_at_a_row_that_does_not(self, anna: Member, tmp_path: Path, endless: str) -> None:
        ended, _ = imported(anna, tmp_path, f"article_number;description1\nA-1;Bolt\nA-2;{endless}")

        assert (ended.state, counts(ended)) == ("failed", (1, 0, 0, 0))
        assert "row of 1048576 bytes or more" in ended.error

    def test_may_hold_cells_of_any_length_in_a_row(self, anna: Member, tmp_path: Path) -> None:
        """As an export does that has a great many ECCNs."""
        row = f"A-1;Bolt;{'x' * 1_000_000}\n"

        ended, _ = imported(anna, tmp_path, f"article_number;description1;eccns\n{row}")

        assert (ended.state, counts(ended)) == ("done", (1, 0, 0, 0))

    def test_may_hold_what_no_product_can(self, anna: Member, tmp_path: Path) -> None:
        ended, _ = imported(
            anna, tmp_path, "article_number;description1\nA\0-1;Bolt\nA-2;B\0lt\n" + "x" * 300 + ";Nut\n"
        )

        assert counts(ended) == (0, 0, 0, 3)


class TestAllowed:
    """What the table of columns says is allowed."""

    TEXTS = tuple(column for column in IMPORTED if " characters" in column.allowed)

    @pytest.mark.parametrize("column", TEXTS, ids=attrgetter("name"))
    def test_is_what_is_taken(self, anna: Member, tmp_path: Path, column: Column) -> None:
        found = re.search(r"([0-9]+) characters", column.allowed)
        assert found is not None
        most = int(found[1])
        has_lines = "line breaks among them" in column.allowed
        longest, too_long, of_lines = "x" * most, "x" * (most + 1), '"x\n"'
        names = ["article_number", "description1", *({column.name} - {"article_number", "description1"})]

        def row(number: int, cell: str) -> str:
            given = {"article_number": f"A-{number}", "description1": "Bolt"} | {column.name: cell}
            return ";".join(given[name] for name in names)

        rows = [row(1, longest), row(2, too_long), row(3, of_lines)]
        ended, report = imported(anna, tmp_path, "\n".join([";".join(names), *rows]) + "\n")

        assert counts(ended) == ((2, 0, 0, 1) if has_lines else (1, 0, 0, 2))
        assert {(line["column"], line["allowed"]) for line in report} == {(column.name, column.allowed)}


class TestRestart:
    """A worker that dies while it imports."""

    def test_goes_on_behind_the_last_line_that_was_stored(self, fresh: Settings, tmp_path: Path) -> None:
        """As after a kill between two batches: the first is stored, the report has lines that belong to none."""
        rows = "".join(f"A-{number};{'' if number == 3 else 'Bolt'}\n" for number in range(10))
        written = "line;article_number;column;what;allowed\n5;A-3;description1;x;y\n"
        half = Import(0, SLUG, "f.csv", BY_COMMAND, 1, "anna", False, "running", line=6, created=4, refused=1)
        file = tmp_path / "given.csv"
        file.write_text(f"article_number;description1\n{rows}")

        async def run() -> tuple[Import, list[dict[str, str]], list[str]]:
            async with await open_store(fresh) as store:
                await store.writing_shared(lambda write: create_account(write, name="A", prefix="acme"))
                async with store.reading_shared() as read:
                    instance_id = (await instance_by_prefix(read, "acme") or (0, 0))[0]
                await store.writing(instance_id, lambda write: create_list(write, name="Spare Parts", slug=SLUG))
                caller = Caller(instance_id, "acme", 1, "anna", frozenset())
                import_id = (
                    await order_import(store, caller, Given(file, SLUG, "f.csv", BY_COMMAND), home=fresh.home)
                ).id
                report_file(fresh.home, instance_id, import_id).write_text(f"{written}7;half a li")
                died = half._replace(id=import_id, report_bytes=len(written))
                await store.writing(instance_id, lambda write: write.update(imports, [died]))
                ended, report = await finished(store, instance_id, import_id, fresh.home)
                async with store.reading(instance_id) as read:
                    found = await live_products(read, [f"A-{number}" for number in range(10)])
                return ended, report, sorted(found)

        ended, report, numbers = asyncio.run(run())

        assert counts(ended) == (9, 0, 0, 1)
        assert [line["line"] for line in report] == ["5"]
        assert numbers == [f"A-{number}" for number in range(5, 10)]


class TestExport:
    """A list as a file."""

    def test_comes_back_without_any_change(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "=1+1", designation="-Bolt", designation2="'@x", feature1='say "hi"; now', is_prio=True)
        make_product(anna, "A-2", country_of_origin={"made_in": "DE"}, type_of_sourcing="E", eccn_comment="a\nb")
        imported(anna, tmp_path, "article_number;archive\nA-2;1\n")
        rows = export(anna)
        header = ";".join(rows[0])

        file = tmp_path / "back.csv"
        with file.open("w", newline="") as written:
            writer = csv.DictWriter(written, rows[0], delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
        ended, report = imported(anna, tmp_path, file.read_bytes())

        assert header == ";".join(HEADER)
        assert (counts(ended), report) == ((0, 0, 2, 0), [])

    def test_holds_the_classification(self, anna: Member) -> None:
        make_product(anna, "A-1")
        record = read_classification({"type": "manual", "ctn": "7318 1595 00"}, today="2026-01-01")
        anna.submit(classify_products, Classifying("A-1", "anna", record))

        (row,) = export(anna)

        assert [row[name] for name in ("type", "ctn", "ctn_8", "status", "is_fixed")] == [
            "manual",
            "7318159500",
            "73181595",
            "classified",
            "0",
        ]

    def test_may_be_of_what_changed_since(self, anna: Member) -> None:
        make_product(anna, "A-1")
        since = found_product(anna, "A-1")["updated_at"]
        make_product(anna, "A-2")

        assert [row["article_number"] for row in export(anna, since=since)] == ["A-2"]

    def test_is_of_one_list_of_one_instance(self, anna: Member, bruno: Member) -> None:
        make_product(anna, "A-1")
        make_product(bruno, "B-1")

        assert [row["article_number"] for row in export(anna)] == ["A-1"]
        assert export(anna, list_id=make_list(anna, "Empty")) == []

    def test_is_named_after_list_and_time(self) -> None:
        assert re.fullmatch(r"stammdaten___spare-parts\.\d{4}(\.\d\d){4}\.csv", export_name(SLUG))


class TestCells:
    """Cells that a spreadsheet would take for formulas."""

    @given(st.text())
    def test_are_read_back_as_they_were(self, text: str) -> None:
        assert plain(safe(text)) == text

    @given(st.text())
    def test_begin_no_formula(self, text: str) -> None:
        assert not safe(text).startswith(("=", "+", "-", "@", "\t", "\r"))


class TestCommands:
    """`stammdaten import` and `export`."""

    def test_import_and_export(self, copied: Callable[[], Settings], tmp_path: Path) -> None:
        settings = copied()
        command(settings, "account", "create", "A", "--prefix", "acme")
        command(settings, "list", "create", "--prefix", "acme", "Spare Parts")
        file = tmp_path / "in.csv"
        file.write_text("article_number;description1\nA-1;Bolt\nA-2;\n")

        said = command(settings, "import", "--prefix", "acme", "--list", SLUG, str(file), expect=1)
        shown = command(settings, "export", "--prefix", "acme", "--out", str(tmp_path / "out"))
        again = command(settings, "import", "--prefix", "acme", "--list", SLUG, shown.strip())

        assert said == "Rows were refused: 1; the report says why.\n"
        assert again.startswith("0 created, 0 updated, 1 unchanged, 0 refused")
        assert file.exists()

    def test_export_over_nothing_that_is_there(self, copied: Callable[[], Settings], tmp_path: Path) -> None:
        settings = copied()
        command(settings, "account", "create", "A", "--prefix", "acme")
        command(settings, "list", "create", "--prefix", "acme", "Spare Parts")
        out, no_folder = tmp_path / "out", tmp_path / "file"
        no_folder.write_text("")
        out.mkdir()
        # Of this minute, and of those in which the command may come to it.
        now = datetime.strptime(export_name(SLUG), NAMED)  # noqa: DTZ007 - German time, as it is written
        there = [out / f"{now + timedelta(minutes=number):{NAMED}}" for number in range(5)]
        for file in there:
            file.write_text("kept")

        shown = command(settings, "export", "--prefix", "acme", "--out", str(out))
        said = command(settings, "export", "--prefix", "acme", "--out", str(no_folder), expect=1)

        assert Path(shown.strip()).read_bytes().startswith(b"article_number;")
        assert {file.read_text() for file in there} == {"kept"}
        assert said == f"{no_folder} cannot be used as a folder: File exists.\n"

    def test_export_and_import_a_workbook(self, copied: Callable[[], Settings], tmp_path: Path) -> None:
        settings = copied()
        command(settings, "account", "create", "A", "--prefix", "acme")
        command(settings, "list", "create", "--prefix", "acme", "Spare Parts")
        file = tmp_path / "in.csv"
        file.write_text("article_number;description1\n007;Bolt\n=1+1;Nut\n")

        command(settings, "import", "--prefix", "acme", "--list", SLUG, str(file))
        shown = command(settings, "export", "--prefix", "acme", "--xlsx", "--out", str(tmp_path / "out"))
        again = command(settings, "import", "--prefix", "acme", "--list", SLUG, shown.strip())

        assert shown.strip().endswith(".xlsx")
        assert again.startswith("0 created, 0 updated, 2 unchanged, 0 refused")
        assert list((settings.home / "exports").iterdir()) == []


class TestGuide:
    """docs/exchange.md."""

    PAGE = (Path(__file__).parents[1] / "docs" / "exchange.md").read_text()

    def test_lists_the_columns_as_they_are(self) -> None:
        rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \|$", self.PAGE, re.MULTILINE)

        assert rows == [(column.name, column.field, column.allowed) for column in IMPORTED]

    def test_has_a_sample_that_can_be_imported(self, anna: Member, tmp_path: Path) -> None:
        sample = self.PAGE.split("```csv\n")[1].split("```")[0]

        ended, report = imported(anna, tmp_path, sample)

        assert sample.splitlines()[0] == MINIMAL == ";".join(column.name for column in IMPORTED[:12])
        assert (counts(ended), report) == ((2, 0, 0, 0), [])
