"""The demo's articles, combined from the word tables: the same for everybody, but for dates, which count from today."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from stammdaten.demo.goods import GROUPS, HOME, KINDS, ORIGINS, Kind

_SEED = 7318
_BTI_YEARS = 3
_YEAR = timedelta(days=365)
_STANDARDS = ("REACH-konform", "RoHS-konform", "Werkszeugnis 2.2", "Abnahmeprüfzeugnis 3.1", "CE-Kennzeichnung")
_REASONS = ("AV 1 und 6", "AV 1, 2 a) und 6", "AV 1, 3 b) und 6")


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """A product as an ERP system sends it, and what the staff find out about it afterwards."""

    list_slug: str
    product: dict[str, Any]
    classification: dict[str, Any] | None
    eccns: tuple[str, ...]
    is_unlisted: bool

    @property
    def article_number(self) -> str:
        """The number under which all know it."""
        return str(self.product["article_number"])


def articles(today: date) -> list[Article]:
    """Return all articles, each kind in each of its sizes."""
    random = Random(_SEED)  # noqa: S311 - not for secrets
    sized = [(kind, size) for kind in KINDS for size in kind.sizes]
    return [_article(random, number, kind, size, today) for number, (kind, size) in enumerate(sized, start=1)]


def _article(random: Random, number: int, kind: Kind, size: str, today: date) -> Article:
    product = _product(random, number, kind, size)
    classification = _classification(random, number, kind, today) if random.random() < 0.8 else None  # noqa: PLR2004
    return Article(
        list_slug=GROUPS[kind.group].list_slug,
        product=product,
        classification=classification,
        eccns=(kind.eccn,) if kind.eccn else (),
        is_unlisted=classification is not None and not kind.eccn and random.random() < 0.4,  # noqa: PLR2004
    )


def _product(random: Random, number: int, kind: Kind, size: str) -> dict[str, Any]:
    group = GROUPS[kind.group]
    vendor = random.choice(group.vendors)
    made_in, preferential = ORIGINS.get(vendor, HOME)
    return {
        "article_number": f"{kind.group}-{10_000 + 10 * number}",
        "designation": f"{kind.german} {size}, {kind.german_material}",
        "designation2": f"{kind.english} {_english(size)}, {kind.english_material}",
        "vendor": vendor,
        "feature1": f"Werkstoff: {kind.german_material}",
        "feature2": f"Größe: {size}",
        "feature3": random.choice(_STANDARDS),
        "feature4": f"Verpackungseinheit: {random.choice((1, 1, 10, 50, 100))} Stück",
        "is_prio": random.random() < 0.1,  # noqa: PLR2004
        "is_eccn": bool(kind.eccn) and made_in == "US",
        "eccn_comment": "Reexport nach EAR prüfen" if kind.eccn and made_in == "US" else "",
        "machine_type": random.choice(group.machine_types),
        "assembly_group": random.choice(group.assembly_groups),
        "import_article": preferential != "EU",
        "supplier_ctn": kind.ctn[:8] if random.random() < 0.5 else "",  # noqa: PLR2004
        "presystem_ctn": kind.ctn[:6],
        "type_of_sourcing": random.choice("FFFFEX") if made_in == "DE" else "F",
        "system_material": f"{4_000_000 + number}",
        "country_of_origin": {"non_preferential": made_in, "preferential": preferential, "made_in": made_in},
    }


def _english(size: str) -> str:
    size = size.replace("-polig", " poles").replace("-stellig", " digits")
    return re.sub(r"(?<=\d),(?=\d)", ".", size)


def _classification(random: Random, number: int, kind: Kind, today: date) -> dict[str, Any]:
    record: dict[str, Any] = {
        "type": random.choices(("manual", "cmp_vzta", "grt_vzta", "special"), (45, 25, 20, 10))[0],
        "ctn": kind.ctn,
        "is_fixed": random.random() < 0.2,  # noqa: PLR2004
    }
    if random.random() < 0.3:  # noqa: PLR2004
        record["tradename2"] = f"aus {kind.german_material}"
    if record["type"] == "manual":
        return record | {
            "reason": random.choice(_REASONS),
            "features": f"{kind.german}; Werkstoff: {kind.german_material}",
        }
    if record["type"] == "special":
        return record | {"is_av3": True, "comment": "Warenzusammenstellung nach AV 3 b)"}
    return record | _bti(random, number, today)


def _bti(random: Random, number: int, today: date) -> dict[str, Any]:
    """Return what a binding tariff information adds; some have run out, of some the BTI data know nothing."""
    is_over = random.random() < 0.15  # noqa: PLR2004
    age = timedelta(days=random.randrange(1_200, 1_800) if is_over else random.randrange(30, 900))
    valid_from = today - age
    bti = f"DEBTI{number * 37 % 100_000:05d}/{valid_from:%y}-1"
    return {
        "bti": bti,
        "bti_found": bti if random.random() < 0.8 else None,  # noqa: PLR2004
        "reason": random.choice(_REASONS),
        "valid_from": valid_from.isoformat(),
        "valid_until": (valid_from + _BTI_YEARS * _YEAR).isoformat(),
    }
