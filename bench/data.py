"""The measured data: products of about 1 KB rendered, and contacts; each made from its number."""

from collections.abc import Iterator
from itertools import count, islice
from typing import Any

_NOUNS = (
    "Gewindebolzen",
    "Kugelhahn",
    "Rillenkugellager",
    "Hydraulikzylinder",
    "Drehstromsynchronmotor",
    "Förderband",
)
_FINISHES = (
    "verzinkt",
    "rostfrei",
    "gehärtet",
    "pulverbeschichtet",
    "eloxiert",
    "geschliffen",
    "unbehandelt",
)
_TRANSLATIONS = (
    "threaded stud",
    "ball valve",
    "deep groove ball bearing",
    "hydraulic cylinder",
    "motor",
    "conveyor",
)
_VENDORS = (
    "Bosch Rexroth AG",
    "Schaeffler Technologies",
    "Festo SE & Co. KG",
    "Mustermann Maschinenbau GmbH",
)
_CITIES = ("Hamburg", "Köln", "München", "Lyon", "Gdańsk", "Århus", "Torino", "Győr")
_NAMES = ("Anna", "Bruno", "Chiara", "Dörte", "Émile", "Fatma", "Grzegorz", "Håkon")
_FAMILIES = (
    "Schmidt",
    "Öztürk",
    "Rossi",
    "Müller",
    "Lefèvre",
    "Nowak",
    "Jørgensen",
    "Nagy",
    "García",
)


def article_number(n: int) -> str:
    """Return the article number of the n-th product, from 1; the load scripts make the same."""
    return f"ART-{n:07d}"


def product(n: int) -> dict[str, Any]:
    """Return the n-th product as a client would send it."""
    kind, finish, size = n % 6, n % 7, n % 480
    return {
        "article_number": article_number(n),
        "designation": f"{_NOUNS[kind]} M{size % 48} x {size} mm, {_FINISHES[finish]}, DIN {n % 9000 + 100}",
        "designation2": f"{_TRANSLATIONS[kind]} M{size % 48} x {size} mm, series {n % 997}, "
        "according to drawing and EN 10204 3.1",
        "feature1": f"Werkstoff 1.{n % 5000:04d}, Zugfestigkeit {n % 900 + 300} N/mm², {n % 30 + 20} HRC",
        "feature2": f"Gewicht {n % 25000 / 1000:.3f} kg, Toleranzklasse h{n % 12}, Rechtsgewinde",
        "feature3": f"Betriebstemperatur -{n % 40} bis {n % 180 + 60} °C, im Freien",
        "feature4": f"Oberfläche {_FINISHES[finish]}, Schichtdicke {n % 40} µm, RoHS-konform",
        "feature5": f"Verpackungseinheit {n % 200 + 1} Stück je Karton, Palette mit 48 Kartons",
        "feature6": f"Zeichnung {n % 7919:05d}-{n % 13:02d}, Änderungsstand C",
        "is_prio": n % 10 == 0,
        "is_eccn": n % 50 == 0,
        "machine_type": f"Typ {n % 211}",
        "assembly_group": f"Baugruppe {n % 307}, Antriebsstrang",
        "vendor": _VENDORS[n % 4],
    }


def contact(n: int) -> dict[str, Any]:
    """Return the n-th contact as a client would send it."""
    first_name, last_name = _NAMES[n % 8], f"{_FAMILIES[n // 8 % 9]}-{n % 4999}"
    return {
        "contact_uid": f"BP-{n:07d}",
        "gender": ("male", "female", None)[n % 3],
        "first_name": first_name,
        "last_name": last_name,
        "email": f"kontakt{n}@example.com",
        "phone": f"+49 40 {n:07d}",
        "street": f"Hafenstraße {n % 400}",
        "postal_code": f"{n % 90000 + 10000}",
        "city": _CITIES[n % 8],
        "country_or_region": ("DE", "FR", "PL", "DK", "IT", "HU")[n % 6],
        "is_watchlist": n % 200 == 0,
    }


def batches(first: int, last: int, size: int) -> Iterator[list[int]]:
    """Divide the numbers first..last into batches."""
    for start in count(first, size):
        batch = list(islice(range(start, last + 1), size))
        if not batch:
            return
        yield batch
