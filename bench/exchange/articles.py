"""The measured files: articles with real names of goods, each made from its number; knows not who imports them."""

import csv
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

COLUMNS = (
    *("article_number", "description1", "description2"),
    *("feature1", "feature2", "feature3", "feature4", "feature5", "feature6"),
    *("is_prio", "manufacturer", "archive"),
)
# One row of so many differs in a changed file, in every batch alike.
CHANGED_OF = 100
_LONGEST = 1_000
_SOURCES = (
    ("goods-terms.csv", ";", "ctn_10", "term"),
    ("tariff-commodities.csv", ";", "ctn_10", "description"),
    ("harmonized-system.csv", ",", "hscode", "description"),
)
_STEMS = (
    *("Ahlers", "Birkner", "Castellan", "Dörfler", "Eklund", "Fürst", "Grünau", "Hallberg", "Ilić", "Jørgensen"),
    *("Kowalczyk", "Lefèvre", "Marchetti", "Nordhoff", "Özdemir", "Petřík", "Rautenberg", "Szabó", "Thorsen", "Weiß"),
)
_FORMS = (
    *("Maschinenbau GmbH", "Antriebstechnik AG", "& Söhne KG", "Werkzeuge GmbH & Co. KG", "Elektronik SE"),
    *("S.p.A.", "et Fils SA", "Industries Ltd", "Sp. z o.o.", "A/S"),
)
_MANUFACTURERS = [f"{stem} {form}" for form in _FORMS for stem in _STEMS]
# Manufacturers take turns in this step, which none of their number divides: an ERP's file is in no order of numbers.
_STEP = 7_919


class Goods(NamedTuple):
    """A kind of goods: its tariff number and what it is called."""

    code: str
    name: str


def read_goods(data: Path) -> list[Goods]:
    """Read what goods are called, by traders and by the tariff, in no order."""
    goods = []
    for name, delimiter, code, text in _SOURCES:
        with (data / "goods" / name).open(encoding="utf-8", newline="") as file:
            goods += [Goods(row[code], row[text][:_LONGEST]) for row in csv.DictReader(file, delimiter=delimiter)]
    Random(7).shuffle(goods)
    return goods


def write_articles(path: Path, goods: list[Goods], numbers: range, *, is_changed: bool = False) -> None:
    """Write the articles of these numbers as an ERP does; in a changed file one of a hundred differs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        writer.writerow(COLUMNS)
        writer.writerows(_rows(goods, numbers, is_changed=is_changed))


def changed_rows(numbers: range) -> int:
    """Count the rows that differ in a changed file."""
    return len(range(numbers.start, numbers.stop, CHANGED_OF))


def _rows(goods: list[Goods], numbers: range, *, is_changed: bool) -> Iterator[tuple[str, ...]]:
    for n in numbers:
        kind, other = goods[n % len(goods)], goods[n * 31 % len(goods)]
        maker, place = n * _STEP % len(_MANUFACTURERS), n // len(_MANUFACTURERS)
        version = "B" if is_changed and (n - numbers.start) % CHANGED_OF == 0 else "A"
        yield (
            _article_number(maker, place),
            kind.name,
            f"{other.name[:60]}, M{n % 48 + 2} x {n % 480 + 5} mm, Zeichnung {n:07d} {version}",
            kind.code,
            f"{n % 25_000 / 1000:.3f} kg" if n % 2 else "",
            f"Werkstoff 1.{n % 5_000:04d}, {n % 900 + 300} N/mm²" if n % 3 == 0 else "",
            "RoHS-konform" if n % 8 == 0 else "",
            f"Verpackungseinheit {n % 200 + 1} Stück" if n % 10 == 0 else "",
            f"ersetzt {_article_number(maker, place // 2)}" if n % 40 == 0 else "",
            "1" if n % 10 == 0 else "0",
            _MANUFACTURERS[maker],
            "1" if n % 200 == 3 else "0" if n % 50 == 7 else "",
        )


def _article_number(maker: int, place: int) -> str:
    """Return the number that a manufacturer gave an article; each counts upwards in a form of its own."""
    if maker % 4 == 0:
        return f"{_MANUFACTURERS[maker][:2].upper()}{maker:03d}-{place:06d}"
    if maker % 4 == 1:
        return f"0 {400 + maker:03d} {place // 1000:03d} {place % 1000:03d}"
    if maker % 4 == 2:
        return f"40{maker:03d}{place:08d}"
    return f"{maker:03d}.{place // 100:05d}.{place % 100:02d}/{chr(65 + place % 26)}"
