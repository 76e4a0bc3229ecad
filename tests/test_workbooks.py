"""Excel workbooks: what is written comes back, and what is no workbook, or a trap, is refused in bounded memory."""

import datetime as dt
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xlsxwriter import Workbook  # type: ignore[import-untyped]  # ships no types

from stammdaten.exchange import workbooks
from stammdaten.exchange.columns import HEADER, exported_row
from stammdaten.exchange.reading import WORKBOOK, open_file
from stammdaten.exchange.workbooks import written_workbook
from stammdaten.products.queries import live_products
from stammdaten.refusals import Malformed, TooLarge
from stammdaten.store import Store
from tests.cast import Member, found_product, make_product
from tests.test_exchange import counts, imported

XML = "http://schemas.openxmlformats.org"
MAIN = f'xmlns="{XML}/spreadsheetml/2006/main" xmlns:r="{XML}/officeDocument/2006/relationships"'
HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>article_number</t></is></c></row>'
# U+FFFE and U+FFFF are no characters, and no workbook gives them back.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffe\uffff"), max_size=50)


def relations(**targets: str) -> str:
    """Return a part that says which kinds of parts there are, and where."""
    said = "".join(
        f'<Relationship Id="r{kind}" Type="{XML}/officeDocument/2006/relationships/{kind}" Target="{target}"/>'
        for kind, target in targets.items()
    )
    return f'<Relationships xmlns="{XML}/package/2006/relationships">{said}</Relationships>'


def by_hand(
    folder: Path, rows: str, *, sheets: str = '<sheet name="S" sheetId="1" r:id="rworksheet"/>', doctype: str = ""
) -> Path:
    """Make a workbook of XML."""
    path = folder / "given"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", relations(officeDocument="xl/workbook.xml"))
        archive.writestr("xl/_rels/workbook.xml.rels", relations(worksheet="worksheets/sheet1.xml"))
        archive.writestr("xl/workbook.xml", f"<workbook {MAIN}><sheets>{sheets}</sheets></workbook>")
        sheet = f'<worksheet {MAIN}><dimension ref="A1:XFD1048576"/><sheetData>{rows}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", doctype + sheet)
    return path


def written(folder: Path, rows: Sequence[Sequence[str]]) -> Path:
    """Write a workbook as an export does."""
    path = folder / "given"
    with written_workbook(path, rows[0]) as append:
        append(rows[1:])
    return path


def read(path: Path, *, after: int = 0) -> list[tuple[int, list[str]]]:
    """Read the rows of a workbook."""
    opened = open_file(path)
    assert opened.encoding == WORKBOOK
    return list(opened.rows(after=after))


class TestOpenFile:
    """A workbook among the files that are imported."""

    def test_gives_cells_as_a_csv_file_has_them(self, tmp_path: Path) -> None:
        path = tmp_path / "given"
        with Workbook(str(path)) as workbook:
            sheet = workbook.add_worksheet()
            date, time = (workbook.add_format({"num_format": form}) for form in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm"))
            sheet.write_row(0, 0, HEADER[:12])
            sheet.write_row(1, 0, [4711, 12.5, True, False, "0012", " a ", -0.0, 123456789012345, 2.0**60, 0.1])
            sheet.write_datetime(1, 10, dt.datetime(2026, 1, 31), date)  # noqa: DTZ001 - spreadsheets know no zones
            sheet.write_datetime(1, 11, dt.datetime(2026, 1, 31, 10, 5), time)  # noqa: DTZ001 - likewise
            sheet.write_formula(2, 0, '="A"&"1"', value="A1")
            sheet.write_formula(2, 1, "=1+1", value=2)

        rows = read(path)

        assert rows == [
            (
                2,
                [
                    *("4711", "12.5", "1", "0", "0012", " a ", "0", "123456789012345", "1.152921504606847e+18", "0.1"),
                    *("2026-01-31", "2026-01-31T10:05:00"),
                ],
            ),
            (3, ["A1", "2", *[""] * 10]),
        ]

    def test_counts_rows_as_the_spreadsheet_does(self, tmp_path: Path) -> None:
        path = written(tmp_path, [["article_number", "eccns", ""], [], ["A-1"], ["", ""], ["A-2", "b", "", ""]])

        assert read(path) == [(3, ["A-1", ""]), (5, ["A-2", "b"])]
        assert read(path, after=3) == [(5, ["A-2", "b"])]

    def test_keeps_what_is_right_of_the_header(self, tmp_path: Path) -> None:
        assert read(written(tmp_path, [["article_number"], ["A-1", "", "x"]])) == [(2, ["A-1", "", "x"])]

    @pytest.mark.parametrize("place", ['r="{}2"', ""])
    def test_gives_errors_as_text(self, tmp_path: Path, place: str) -> None:
        cells = [
            f"<c {place.format('A')}><v>1</v></c>",
            f'<c {place.format("B")} t="e"><f>NA()</f><v>#N/A</v></c>',
            f'<c {place.format("C")} t="e"><v>#DIV/0!</v></c>',
        ]
        path = by_hand(tmp_path, f"{HEAD}<row>{''.join(cells)}</row>")

        assert read(path) == [(2, ["1", "#N/A", "#DIV/0!"])]

    def test_gives_errors_in_their_place_where_a_sheet_begins_further_right(self, tmp_path: Path) -> None:
        names = [
            f'<c r="{place}" t="inlineStr"><is><t>{name}</t></is></c>'
            for place, name in (("C3", "article_number"), ("D3", "eccns"))
        ]
        header = f'<row r="3">{"".join(names)}</row>'
        path = by_hand(tmp_path, f'{header}<row r="4"><c r="C4"><v>1</v></c><c r="D4" t="e"><v>#N/A</v></c></row>')

        assert read(path) == [(4, ["1", "#N/A"])]

    @pytest.mark.parametrize("value", ["", "<v></v>", "<v/>"])
    def test_refuses_formulas_that_nobody_calculated(self, tmp_path: Path, value: str) -> None:
        """As some programs write them; an empty cell would clear a field."""
        path = by_hand(tmp_path, f'{HEAD}<row><c r="A2"><v>1</v></c><c r="B2"><f>1+1</f>{value}</c></row>')

        with pytest.raises(Malformed, match="formulas without values"):
            read(path)

    def test_takes_formulas_whose_value_is_an_empty_text(self, tmp_path: Path) -> None:
        cells = '<c r="A2"><v>1</v></c><c r="B2" t="str"><f>""</f><v></v></c><c r="C2"><f>1+1</f><v>2</v></c>'
        path = by_hand(tmp_path, f"{HEAD}<row>{cells}</row>")

        assert read(path) == [(2, ["1", "", "2"])]

    def test_reads_the_first_sheet_that_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "given"
        with Workbook(str(path)) as workbook:
            hidden, chart, seen = workbook.add_worksheet(), workbook.add_chartsheet(), workbook.add_worksheet()
            bars = workbook.add_chart({"type": "bar"})
            bars.add_series({"values": "=Sheet1!$A$1:$A$2"})
            chart.set_chart(bars)
            hidden.hide()
            hidden.write_row(0, 0, ["colour"])
            seen.activate()
            seen.set_first_sheet()
            seen.write_column(4, 0, ["article_number", "A-1"])
            seen.write_formula(6, 0, "=NA()", value="#N/A")

        assert read(path) == [(6, ["A-1"]), (7, ["#N/A"])]

    def test_refuses_a_sheet_without_a_header(self, tmp_path: Path) -> None:
        with pytest.raises(Malformed, match="it must begin with a header"):
            read(by_hand(tmp_path, ""))

    @pytest.mark.parametrize("kept", [4, 8, 1000, -1000, -4])
    def test_refuses_what_is_cut_off(self, tmp_path: Path, kept: int) -> None:
        path = written(tmp_path, [["article_number"], *([f"A-{number}"] for number in range(1000))])
        path.write_bytes(path.read_bytes()[:kept])

        with pytest.raises(Malformed, match="no workbook that can be read"):
            read(path)

    def test_refuses_another_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "given"
        with ZipFile(path, "w") as archive:
            archive.writestr("article_number.csv", "article_number\nA-1\n")

        with pytest.raises(Malformed, match="no workbook that can be read"):
            read(path)

    def test_refuses_what_has_a_password(self, tmp_path: Path) -> None:
        path = tmp_path / "given"
        path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4096))

        with pytest.raises(Malformed, match="password"):
            read(path)

    @pytest.mark.parametrize(
        "sheets",
        ["", '<sheet name="S" sheetId="1" r:id="rnone"/>', '<sheet name="S" sheetId="1"/>', "<sheet", "<a>" * 100_000],
        ids=["none", "nowhere", "unrelated", "broken", "deep"],
    )
    def test_refuses_a_workbook_without_sheets(self, tmp_path: Path, sheets: str) -> None:
        with pytest.raises(Malformed, match="no workbook that can be read"):
            read(by_hand(tmp_path, HEAD, sheets=sheets))

    @pytest.mark.parametrize(
        "cell",
        [
            '<c r="XFD1048576"><v>1</v></c>',
            '<c r="ZZZZZZ4294967295"><v>1</v></c>',
            '<c r="A99999999999999999999"><v>1</v></c>',
            '<c r="0"><v>1</v></c>',
            '<c t="s"><v>7</v></c>',
            '<c t="e"><v>&#0;</v></c>',
            "<c><v>1</v>",
        ],
    )
    def test_outlives_cells_that_are_traps(self, tmp_path: Path, cell: str) -> None:
        with pytest.raises(Malformed):
            read(by_hand(tmp_path, f"{HEAD}<row>{cell}</row>"))

    def test_expands_no_entities(self, tmp_path: Path) -> None:
        doctype = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]>'
        rows = f'{HEAD}<row><c t="inlineStr"><is><t>&b;</t></is></c><c t="e"><v>&b;</v></c></row>'

        with pytest.raises(Malformed):
            read(by_hand(tmp_path, rows, doctype=doctype))

    def test_takes_rows_of_any_width(self, tmp_path: Path) -> None:
        wide = "<c><v>1</v></c>" * 16_384

        assert read(by_hand(tmp_path, f"{HEAD}<row>{wide}</row>")) == [(2, ["1"] * 16_384)]

    def test_says_how_far_it_came(self, tmp_path: Path) -> None:
        long = f'<row><c t="inlineStr"><is><t>{"x" * 2_000_000}</t></is></c></row>'
        rows = open_file(by_hand(tmp_path, f"{HEAD}<row><c><v>1</v></c></row>{long}")).rows()

        assert next(rows) == (2, ["1"])
        with pytest.raises(Malformed, match="row behind row 2 cannot be read"):
            next(rows)

    def test_stops_a_bomb(self, tmp_path: Path) -> None:
        """One text that a hundred thousand cells share is 3 GB, and the file some KB."""
        path = by_hand(tmp_path, HEAD + '<row><c t="s"><v>0</v></c></row>' * 100_000)
        with ZipFile(path, "a", ZIP_DEFLATED) as archive:
            archive.writestr("xl/sharedStrings.xml", f"<sst {MAIN}><si><t>{'x' * 32_000}</t></si></sst>")

        with pytest.raises(Malformed, match="takes more than 1024 MiB"):
            read(path)

    def test_believes_no_declared_size(self, tmp_path: Path) -> None:
        path = by_hand(tmp_path, HEAD + "<row><c><v>1</v></c></row>" * 1000)
        with ZipFile(path) as archive:
            size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
        path.write_bytes(path.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", 300)))

        with pytest.raises(Malformed, match="no workbook that can be read"):
            read(path)

    def test_leaves_nothing_behind(self, tmp_path: Path) -> None:
        path = written(tmp_path, [["article_number"], ["A-1"]])

        read(path)

        assert list(tmp_path.iterdir()) == [path]


class TestWrittenWorkbook:
    """An export as a workbook."""

    @settings(max_examples=30)
    @given(st.lists(st.lists(TEXTS, min_size=3, max_size=3).filter(any), max_size=40))
    @example([["_x000B_", "_x005F_x000B_", "_x005F_x005f_xD83D_"], ["a\x0bb", "\r\n", "\n"], ["<r>", "<r>&</r>", "_x"]])
    @example([["=1+1", "http://example.com", "12.50"], [" a ", "\t", "<r><t>a</t></r>"], ["#N/A", "TRUE", "'"]])
    def test_gives_back_what_was_written(self, rows: list[list[str]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = written(Path(folder), [["article_number", "eccns", "comment"], *rows])

            assert [cells for _, cells in read(path)] == rows

    def test_takes_as_long_a_text_as_a_cell_holds(self, tmp_path: Path) -> None:
        text = "ü" * 32_767

        assert read(written(tmp_path, [["article_number"], [text]])) == [(2, [text])]

    @pytest.mark.parametrize("text", ["x" * 32_768, "\U0001f529" * 16_384, "\x0b" * 32_000])
    def test_refuses_a_longer_one(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(TooLarge, match="Article A-1 has a text that is too long"):
            written(tmp_path, [["article_number", "comment"], ["A-1", text]])

        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
    def test_refuses_what_it_cannot_give_back(self, tmp_path: Path, character: str) -> None:
        with pytest.raises(TooLarge, match=r"'A-1' has a character that no workbook holds"):
            written(tmp_path, [["article_number", "comment"], ["A-1", f"a{character}b"]])

    def test_refuses_more_rows_than_a_sheet_has(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workbooks, "_MOST_ROWS", 3)

        with pytest.raises(TooLarge, match="2 articles at most"):
            written(tmp_path, [["article_number"], ["A-1"], ["A-2"], ["A-3"]])


class TestImport:
    """A workbook, all the way."""

    def test_is_like_that_of_a_csv_file(self, anna: Member, tmp_path: Path) -> None:
        rows = [["article_number", "description1", "is_prio"], ["0012", "Bolt"], [], ["A-2"], ["A-3", "Nut", "2"]]
        file = written(tmp_path, rows).read_bytes()

        ended, report = imported(anna, tmp_path, file)

        assert (counts(ended), ended.encoding, ended.line) == ((1, 0, 0, 2), "xlsx", 5)
        assert [(line["line"], line["article_number"], line["column"]) for line in report] == [
            ("4", "A-2", "description1"),
            ("5", "A-3", "is_prio"),
        ]
        assert found_product(anna, "0012")["data"][0]["designation"] == "Bolt"

    def test_refuses_what_is_no_workbook(self, anna: Member, tmp_path: Path) -> None:
        ended, _ = imported(anna, tmp_path, b"PK\x03\x04 and so on")

        assert (ended.state, counts(ended)) == ("failed", (0, 0, 0, 0))
        assert "no workbook" in ended.error

    def test_changes_nothing_of_what_was_exported(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna, "=1+1", designation="-Bolt", designation2="'@x", feature1='say "hi"; now', is_prio=True)
        make_product(anna, "0012", country_of_origin={"made_in": "DE"}, eccn_comment="a\r\nb\x0b_x000B_<r>c</r>")

        async def rows(store: Store) -> list[list[str]]:
            async with store.reading(anna.instance_id) as reading:
                found = await live_products(reading, ["=1+1", "0012"])
            return [exported_row(product, record) for product, record in found.values()]

        file = written(tmp_path, [HEADER, *anna.service.run(rows)]).read_bytes()
        ended, report = imported(anna, tmp_path, file)

        assert (counts(ended), report) == ((0, 0, 2, 0), [])
