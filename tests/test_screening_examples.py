"""The worked examples of docs/screening.md come out as the page says."""

import re
from pathlib import Path

import pytest

from stammdaten.screening.entries import ORGANISATION, ORIGINAL, PERSON, STRONG, WEAK, Entry, Name, written
from stammdaten.screening.matching import CERTAIN, DEFAULT_THRESHOLD, Index
from stammdaten.screening.parties import Party
from stammdaten.screening.queries import Rules

PAGE = (Path(__file__).parents[1] / "docs" / "screening.md").read_text()
COUNTRIES = {"Hungary": "HU", "Iran": "IR", "Yemen": "YE", "Russia": "RU"}


def table(header: str) -> list[list[str]]:
    """Return the cells of the page's table that has this header, row by row."""
    lines = PAGE.split(f"{header}\n")[1].splitlines()[1:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def entry(number: int, kind: str, names: str, country: str) -> Entry:
    """Read an entry of the page's list."""
    codes = (COUNTRIES[country],) if country else ()
    return Entry(
        entry_id=str(number),
        kind=PERSON if kind == "person" else ORGANISATION,
        names=tuple(_name(name.strip()) for name in names.split("·")),
        nationalities=codes if kind == "person" else (),
        countries=() if kind == "person" else codes,
    )


def _name(text: str) -> Name:
    if text.endswith("(weak)"):
        return Name(text.removesuffix("(weak)").strip(), WEAK)
    return Name(text, STRONG if text.isascii() else ORIGINAL)


INDEX = Index.of(
    [
        ("made up", written(entry(number, *cells)))
        for number, cells in enumerate(table("| Entry | Names | Country |"), start=1)
    ]
)


class TestExamples:
    """The tables of the page."""

    @pytest.mark.parametrize(
        ("first_name", "last_name", "country", "score", "status", "why"),
        table("| First name | Last name | Country | Score | Status | Why |"),
    )
    def test_come_out_as_the_page_says(
        self, first_name: str, last_name: str, country: str, score: str, status: str, why: str
    ) -> None:
        assert why
        found = INDEX.matches(Party(first_name, last_name, country=country), least=DEFAULT_THRESHOLD)

        best = found[0].score if found else None
        assert (f"{best:.2f}" if best else "") == score
        assert status == ("green" if best is None else "red" if best >= CERTAIN else "yellow")

    def test_show_features_that_are_explained_and_add_up(self) -> None:
        explained = {name for cells in table("| Feature | |") for name in re.findall(r"`([^`]+)`", cells[0])}
        found = [
            match
            for cells in table("| First name | Last name | Country | Score | Status | Why |")
            for match in INDEX.matches(Party(cells[0], cells[1], country=cells[2]), least=0.5)
        ]

        assert found
        for match in found:
            assert match.features.keys() <= explained
            assert sum(match.features.values()) == pytest.approx(match.score, abs=0.001)

    def test_name_the_defaults_of_the_settings(self) -> None:
        defaults = {cells[0].strip("`"): cells[1] for cells in table("| Setting | Default | Lower | Higher |")}
        rules = Rules()

        assert defaults == {
            "--threshold": str(rules.threshold),
            "--certain": str(rules.certain),
            "--most-age-days": str(rules.most_age_days),
            "--rescreen-days": str(rules.rescreen_days),
            "--sources": "all loaded",
        }
        assert rules.sources == ()
