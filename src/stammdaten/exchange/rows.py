"""Rows of cells as products: what a row says, what is wrong with it, and the lines of the report."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from stammdaten.auth.callers import Caller
from stammdaten.exchange.columns import BY_FIELD, BY_NAME, KEY, Column, is_country, plain
from stammdaten.http.fields import trimmed
from stammdaten.products.operations import ProductImport
from stammdaten.products.shapes import read_fields
from stammdaten.refusals import Invalid, Refusal

_OTHERS = {"flag", "archive", "country"}
_FLAGS = {"1": True, "0": False, "": None}


class Remark(NamedTuple):
    """A line of the report; `is_refusal` tells a refused row from a warning."""

    line: int
    article_number: str
    column: str
    what: str
    allowed: str
    is_refusal: bool = True


class Cells(NamedTuple):
    """A row as its cells say: fields of the product, and what there is to say of them."""

    line: int
    article_number: str
    given: dict[str, Any]
    is_archived: bool | None
    remarks: list[Remark]

    @property
    def is_refused(self) -> bool:
        """Whether a cell cannot be taken."""
        return bool(self.remarks) and any(remark.is_refusal for remark in self.remarks)


class Row(NamedTuple):
    """A row as it was checked: what to import, or None where it is refused, and what there is to say of it."""

    product: ProductImport | None
    remarks: list[Remark]


class Reader:
    """Reads the rows of one file."""

    def __init__(self, columns: Sequence[str], *, caller: Caller, list_id: int) -> None:
        self._width = len(columns)
        self._caller = caller
        self._list_id = list_id
        self._key = columns.index(KEY)
        # Columns that only an export has are passed over.
        known = [(place, column) for place, name in enumerate(columns) if (column := BY_NAME.get(name))]
        # Texts, most of what files hold, are taken together: they are as they are.
        self._texts = [(column.field, place) for place, column in known if column.kind not in _OTHERS]
        self._others = [(place, column) for place, column in known if column.kind in _OTHERS]

    def cells(self, line: int, cells: list[str]) -> Cells:
        """Read what the cells of a row say."""
        if len(cells) != self._width:
            what = f"has {len(cells)} cells"
            return Cells(line, "", {}, None, [Remark(line, "", "", what, f"{self._width}, as many as the header")])
        if "'" in "".join(cells):
            cells = [plain(cell) for cell in cells]
        given: dict[str, Any] = {field: cells[place] for field, place in self._texts}
        # Here already: two rows of one article must be known as such.
        article_number = given[KEY] = trimmed(cells[self._key])
        remarks: list[Remark] = []
        is_archived: bool | None = None
        for place, column in self._others:
            cell = cells[place]
            if column.kind == "country":
                is_known = is_country(cell)
                given[column.field] = cell if is_known else ""
                if not is_known:
                    what = f"is no country code: {cell[:100]!r}"
                    remarks.append(_remark(line, article_number, column, what, is_refusal=False))
            elif cell not in _FLAGS:
                remarks.append(_remark(line, article_number, column, f"is neither 1 nor 0: {cell[:100]!r}"))
            elif column.kind == "archive":
                is_archived = _FLAGS[cell]
            elif cell:
                given[column.field] = _FLAGS[cell]
        return Cells(line, article_number, given, is_archived, remarks)

    def checked(self, cells: Cells) -> Row:
        """Check what the cells say as the interface checks the same fields."""
        line, article_number, given, is_archived, remarks = cells
        if not given:
            return Row(None, remarks)
        try:
            number, values = read_fields(given)
        except Invalid as invalid:
            faults = [_remark(line, article_number, BY_FIELD[fault.path], fault.sentence) for fault in invalid.faults]
            return Row(None, [*remarks, *faults])
        if cells.is_refused:
            return Row(None, remarks)
        product = ProductImport(
            caller=self._caller,
            list_id=self._list_id,
            article_number=number,
            values=values,
            is_archived=is_archived,
        )
        return Row(product, remarks)


def _remark(line: int, article_number: str, column: Column, what: str, *, is_refusal: bool = True) -> Remark:
    return Remark(line, article_number, column.name, what, column.allowed, is_refusal)


def refused(line: int, article_number: str, refusal: Refusal) -> Remark:
    """Say why the store refused a row."""
    if isinstance(refusal, Invalid):
        fault = refusal.faults[0]
        return _remark(line, article_number, BY_FIELD[fault.path], fault.sentence)
    return Remark(line, article_number, KEY, str(refusal), "an article of this list, or a new one")
