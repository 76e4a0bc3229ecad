"""What the documentation lists is what the code has, and its links lead somewhere.

No fixtures: pages are read as text, the code as values or as its syntax tree.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from stammdaten.cli import app
from stammdaten.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
RECORDS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
METRIC_TYPES = {"Counter", "Gauge", "Histogram", "Summary", "Info", "Enum"}

_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def rows(heading: str) -> list[str]:
    """Return the first cells of the README's table below a heading, without their backticks."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def commands(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, TyperCommand]]:
    """Walk the commands below one, each with the words that call it."""
    if isinstance(command, TyperGroup):
        for name, member in command.commands.items():
            yield from commands(member, (*words, name))
    else:
        assert isinstance(command, TyperCommand), command
        yield " ".join(words), command


COMMANDS = dict(commands(get_command(app), ("stammdaten",)))


def metrics() -> Iterator[str]:
    """Find the names of all metrics that the code defines."""
    for module in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in METRIC_TYPES:
                name = node.args[0] if node.args else None
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield name.value


def anchors(page: Path) -> set[str]:
    """Return what a link may name in a page: its headings, as they are turned into anchors."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shown(page: Path) -> str:
    """Name a page in a test's id."""
    return str(page.relative_to(ROOT))


class TestSettings:
    """The README's table of settings."""

    def test_stand_in_the_readme_and_no_others(self) -> None:
        variables = [f"STAMMDATEN_{field.name.upper()}" for field in dataclasses.fields(Settings)]

        assert rows("Settings") == variables

    def test_are_all_that_the_code_names(self) -> None:
        variables = {f"STAMMDATEN_{field.name.upper()}" for field in dataclasses.fields(Settings)}

        named = set(re.findall(r"STAMMDATEN_[A-Z_]*[A-Z]", (ROOT / "src/stammdaten/settings.py").read_text()))

        assert named <= variables


class TestCommands:
    """The README's table of commands."""

    def test_stand_in_the_readme_and_no_others(self) -> None:
        documented = [re.split(r" [A-Z\[-]", usage)[0] for usage in rows("Commands")]

        assert sorted(documented) == sorted(COMMANDS)

    @pytest.mark.parametrize("usage", rows("Commands"))
    def test_take_what_the_readme_says(self, usage: str) -> None:
        command = COMMANDS[re.split(r" [A-Z\[-]", usage)[0]]

        options = {name for option in command.params for name in option.opts if name.startswith("--")}
        required = {option.opts[0] for option in command.params if option.required} & options
        # What stands in brackets may be left out; a word in capitals behind an option is its value.
        demanded = re.sub(r"\[[^\]]*\]", "", usage)
        arguments = [option for option in command.params if option.param_type_name == "argument"]
        words = re.sub(r"--[a-z-]+ [A-Z0-9]+", "", demanded).split()

        assert set(re.findall(r"--[a-z-]+", usage)) == options
        assert set(re.findall(r"--[a-z-]+", demanded)) == required
        assert len([word for word in words if word.isupper()]) == len(arguments)


class TestMetrics:
    """The table of metrics in the operations guide."""

    def test_stand_in_the_operations_guide(self) -> None:
        documented = re.findall(r"^\| `(stammdaten_\w+)` \|", OPERATIONS, re.MULTILINE)

        assert sorted(documented) == sorted(metrics())


class TestLinks:
    """Links from one page to another."""

    @pytest.mark.parametrize("page", PAGES, ids=shown)
    def test_lead_to_files_and_headings_that_exist(self, page: Path) -> None:
        links = [link for link in _LINK.findall(_FENCED.sub("", page.read_text())) if "://" not in link]

        for link in links:
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors(target), link


class TestDecisions:
    """The records under `docs/decisions`."""

    @pytest.mark.parametrize("record", RECORDS, ids=shown)
    def test_have_their_four_headings_in_order(self, record: Path) -> None:
        headings = re.findall(r"^## (.+)$", record.read_text(), re.MULTILINE)

        assert headings[:4] == ["Context", "Decision", "Status", "Consequences"]
        assert headings[4:] in ([], ["Security"])

    def test_are_numbered_without_gaps_and_listed_on_the_first(self) -> None:
        others = [record.name for record in RECORDS[1:]]

        assert [record.name[:5] for record in RECORDS] == [f"{n:04}-" for n in range(1, len(RECORDS) + 1)]
        assert sorted(_LINK.findall(RECORDS[0].read_text())) == others


class TestPages:
    """All pages."""

    @pytest.mark.parametrize("page", PAGES, ids=shown)
    def test_keep_prose_within_120_columns(self, page: Path) -> None:
        # What `make bench` has written is not prose.
        written = page.read_text().partition("<!-- measured: begin -->")[0]
        prose = [line for line in _FENCED.sub("", written).splitlines() if not line.startswith("|")]

        assert [line for line in prose if len(line) > 120] == []
