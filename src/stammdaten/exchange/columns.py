"""The one table of columns: what a file may hold, where it goes, and what is allowed in it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from stammdaten.classification.rules import Classification
from stammdaten.classification.shapes import shown_classification
from stammdaten.http.fields import LONG, SHORT, TEXT
from stammdaten.products.countries import COUNTRY_CODES
from stammdaten.products.shapes import SOURCING, Product

KEY = "article_number"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is imported and exported: its name in files, the product's field, and what may stand in it."""

    name: str
    field: str
    kind: str  # a key of _ALLOWED

    @property
    def allowed(self) -> str:
        """Say what may stand in a cell."""
        return _ALLOWED[self.kind]


_ALLOWED = {
    "key": f"1 to {SHORT} characters in one line",
    "name": f"1 to {LONG} characters in one line; needed for a new article",
    "long": f"up to {LONG} characters in one line; empty clears the field",
    "short": f"up to {SHORT} characters in one line; empty clears the field",
    "text": f"up to {TEXT} characters, line breaks among them; empty clears the field",
    "flag": "1 or 0; empty is not given",
    "sourcing": f"one of {', '.join(SOURCING)}; empty clears the field",
    "country": "a country code of ISO 3166-1 alpha-2, or one of XK, XI, XS, XC, XL, EU; another is stored as empty",
    "archive": "1 archives, 0 brings back; empty does neither",
}

IMPORTED = (
    Column(KEY, KEY, "key"),
    Column("description1", "designation", "name"),
    Column("description2", "designation2", "long"),
    *(Column(f"feature{number}", f"feature{number}", "long") for number in range(1, 7)),
    Column("is_prio", "is_prio", "flag"),
    Column("manufacturer", "vendor", "short"),
    Column("archive", "is_archived", "archive"),
    Column("import_article", "import_article", "flag"),
    Column("is_military", "is_military", "flag"),
    Column("is_nuclear", "is_nuclear", "flag"),
    Column("machine_type", "machine_type", "short"),
    Column("is_eccn", "is_eccn", "flag"),
    Column("eccn_comment", "eccn_comment", "text"),
    Column("system_material", "system_material", "short"),
    Column("supplier_ctn", "supplier_ctn", "short"),
    Column("presystem_ctn", "presystem_ctn", "short"),
    Column("assembly_group", "assembly_group", "short"),
    Column("type_of_sourcing", "type_of_sourcing", "sourcing"),
    Column("country_of_origin_made_in", "made_in", "country"),
    Column("country_of_origin_preferential", "preferential", "country"),
    Column("country_of_origin_non_preferential", "non_preferential", "country"),
)
BY_NAME = {column.name: column for column in IMPORTED}
BY_FIELD = {column.field: column for column in IMPORTED}

_CLASSIFICATION = (
    *("type", "ctn", "ctn_8", "ctn_10", "status", "bti", "valid_from", "valid_until"),
    *("comment", "tradename", "is_fixed", "is_av3"),
)
_TIMES = ("inserted_at", "updated_at")
# Ignored when they come back: only the staff and the service make them.
EXPORTED_ONLY = (*_CLASSIFICATION, "eccns", "is_unlisted", *_TIMES)
HEADER = (*BY_NAME, *EXPORTED_ONLY)

# What a spreadsheet would take for a formula. A quotation mark before it makes it text; one that stands there already
# gets another, so that what is read back is what was there.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MADE_SAFE = re.compile(r"'+[=+\-@\t\r]")


def safe(text: str) -> str:
    """Write a cell so that no spreadsheet takes it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def plain(cell: str) -> str:
    """Read a cell that `safe` may have written."""
    return cell[1:] if cell.startswith("'") and _MADE_SAFE.match(cell) else cell


def is_country(cell: str) -> bool:
    """Tell whether a cell holds a country code, in either case, or nothing."""
    return not cell or (cell.isascii() and cell.upper() in COUNTRY_CODES)


def exported_row(product: Product, record: Classification | None) -> list[str]:
    """Write a product as cells, in the order of `HEADER`."""
    cells = [_written(getattr(product, column.field)) for column in IMPORTED]
    shown = shown_classification(record, designation=product.designation) if record else {}
    codes = json.loads(product.eccns)["codes"] if product.eccns else []
    cells += [_written(shown.get(name, "")) for name in _CLASSIFICATION]
    cells += [", ".join(codes), _written(product.is_unlisted)]
    cells += [getattr(product, name) for name in _TIMES]
    return [safe(cell) for cell in cells]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return "" if value is None else str(value)
