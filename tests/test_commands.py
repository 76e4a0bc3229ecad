"""The commands of the operator: what they print, what they do, and how they end.

Most run by `run`: the real entry point with its arguments, environment and streams, in this process, which is fifty
times faster. What a process is about (pipes, several at once, serving) runs in one of its own (`tests/processes.py`).
Longer than other files, because the table of commands is one; a class for each command.
"""

import asyncio
import copy
import errno
import gc
import io
import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import httpx2 as httpx
import pytest
import typer

from stammdaten import cli
from stammdaten.cli.exchange import _moved, _worked_off
from stammdaten.cli.running import failing, instance_id_of
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.exchange.exporting import EXPORT
from stammdaten.exchange.orders import IMPORT
from stammdaten.jobs.queue import ask
from stammdaten.refusals import AlreadyExists
from stammdaten.settings import Settings
from stammdaten.store import open_store
from stammdaten.store.backup import back_up_sqlite
from stammdaten.store.doors import NoSuchTable
from stammdaten.store.holding import hold_alone
from stammdaten.store.schema import HEAD
from tests.cast import Member, Service, found_product, make_contact, make_list, make_product
from tests.processes import PATIENCE, STAMMDATEN, Served, command, environment, free_port
from tests.test_access import LONGEST_MEMORY

TOKEN = re.compile(r"st_[A-Za-z0-9_-]{43}")
_numbers = itertools.count(1)
UTC_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
MANUAL = {"type": "manual", "ctn": "8501 52.20", "reason": "General Rules 1 and 6"}


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run(settings: Settings, *words: str, given: str = "", **more: object) -> Ended:
    """Run a command in this process; an exception that would be a traceback is one here."""
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(given.encode("utf-8", "surrogateescape")))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name.startswith("STAMMDATEN_")]:
            patch.delenv(name)
        for name, value in environment(settings, **more).items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["stammdaten", *words])
        patch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return Ended(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def done(settings: Settings, *words: str, given: str = "") -> list[str]:
    """Run a command that must succeed, and return the lines it printed."""
    ended = run(settings, *words, given=given)
    assert (ended.code, ended.err) == (0, ""), ended
    assert "\x1b" not in ended.out
    # Not splitlines(): JSON may hold other characters that it takes for the end of a line.
    return ended.out.removesuffix("\n").split("\n") if ended.out else []


def refused(settings: Settings, *words: str, given: str = "", code: int = 1, **more: object) -> str:
    """Run a command that must be refused, and return what it said on standard error."""
    ended = run(settings, *words, given=given, **more)
    assert (ended.code, ended.out) == (code, ""), ended
    assert ended.err.endswith("\n")
    assert "Traceback" not in ended.err
    return ended.err.removesuffix("\n")


def execute(settings: Settings, sql: str) -> None:
    """Run SQL on a database behind the service's back."""
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as connection:
            connection.executescript(sql)
        return
    url = settings.database_url

    async def run_there() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(run_there())


def happens(condition: Callable[[], bool], *, within: float) -> bool:
    """Return whether a condition comes true in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def _paths(group: Any, *before: str) -> Iterator[tuple[str, ...]]:
    for name, one in group.commands.items():
        yield (*before, name)
        if hasattr(one, "commands"):
            yield from _paths(one, *before, name)


COMMANDS = sorted(_paths(typer.main.get_command(cli.app)))
# The table of `design.md`.
DESIGNED = """
    serve, migrate, check, backup, restore, account create, instance create, instance list, user create, user add,
    user role, user disable, token create, token list, token revoke, list create, list delete, product show,
    product history, product archive, product unarchive, product delete, product restore, product classify,
    product eccn, product unlist, product attach, product detach, contact history, contact purge
"""
NO_USAGE: list[tuple[str, ...]] = [
    ("nonsense",),
    ("--nonsense",),
    ("product", "nonsense"),
    ("account", "create", "--prefix", "acme"),
    ("account", "create", "Acme"),
    ("account", "create", "Acme", "Else", "--prefix", "acme"),
    ("instance", "create"),
    ("user", "create", "--prefix", "acme"),
    ("user", "create", "--name", "anna"),
    ("user", "create", "--prefix", "acme", "--name", "anna", "--role", "boss"),
    ("user", "create", "--prefix", "acme", "--name", "anna", "--role", "API-USER"),
    ("user", "role", "--prefix", "acme", "--name", "anna", "--role", ""),
    ("token", "create", "--prefix", "acme"),
    ("token", "create", "--prefix", "acme", "--user", "anna", "--expires-in", "-1"),
    ("token", "create", "--prefix", "acme", "--user", "anna", "--expires-in", "soon"),
    ("token", "list"),
    ("token", "revoke", "--prefix", "acme"),
    ("list", "create", "--prefix", "acme"),
    ("list", "delete", "--prefix", "acme", "one"),
    ("product", "show", "A-1"),
    ("product", "show", "--prefix", "acme"),
    ("product", "unlist", "--prefix", "acme", "A-1", "--on"),
    ("contact", "history", "K-1"),
    ("backup",),
    ("restore",),
    ("job", "list", "--most", "0"),
]


class TestHelp:
    """`--help`, and words that are no command."""

    @pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
    def test_is_printed_for_every_command(self, path: tuple[str, ...], tmp_path: Path) -> None:
        home = tmp_path / "home"

        lines = done(Settings(home=home), *path, "--help")

        assert lines[0].startswith(" ".join(["Usage: stammdaten", *path]))
        assert not home.exists()

    @pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
    def test_tells_what_each_word_is_for(self, path: tuple[str, ...]) -> None:
        group: Any = typer.main.get_command(cli.app)
        for name in path:
            group = group.commands[name]

        untold = [word.name for word in group.params if not word.help]

        assert untold == []

    def test_knows_every_command_of_the_design(self) -> None:
        designed = {tuple(each.split()) for each in DESIGNED.split(",")}

        assert designed <= set(COMMANDS)

    @pytest.mark.parametrize("words", NO_USAGE, ids=" ".join)
    def test_is_pointed_to_where_the_words_are_wrong(self, words: tuple[str, ...], tmp_path: Path) -> None:
        home = tmp_path / "home"

        said = refused(Settings(home=home), *words, code=2)

        assert said.startswith("Usage: stammdaten")
        assert "--help" in said
        assert not home.exists()


class TestSettings:
    """The environment: what cannot be used ends any command with exit code 2 and a sentence."""

    @pytest.mark.parametrize(
        ("name", "value", "allowed"),
        [
            ("port", "http", "must be a whole number from 0 to 65535"),
            ("port", "65536", "must be a whole number from 0 to 65535"),
            ("port", "-1", "must be a whole number from 0 to 65535"),
            ("port", "80.0", "must be a whole number from 0 to 65535"),
            ("port", "٨٠", "must be a whole number from 0 to 65535"),
            ("metrics_port", "x", "must be a whole number from 0 to 65535"),
            ("workers", "0", "must be a whole number from 1 to 256"),
            ("workers", "257", "must be a whole number from 1 to 256"),
            ("workers", "two", "must be a whole number from 1 to 256"),
            ("body_timeout", "0", "must be a number of seconds above 0 and up to 3600"),
            ("body_timeout", "-1", "must be a number of seconds above 0 and up to 3600"),
            ("body_timeout", "nan", "must be a number of seconds above 0 and up to 3600"),
            ("body_timeout", "soon", "must be a number of seconds above 0 and up to 3600"),
            ("body_timeout", "3601", "must be a number of seconds above 0 and up to 3600"),
            ("database_url", "mysql://root:secret@localhost/x", "must begin with postgresql://"),
            ("database_url", "/var/lib/x.sqlite3", "must begin with postgresql://"),
        ],
    )
    @pytest.mark.parametrize("words", [("serve",), ("check",), ("instance", "list")], ids=" ".join)
    def test_are_named_where_they_cannot_be_used(
        self, tmp_path: Path, words: tuple[str, ...], name: str, value: str, allowed: str
    ) -> None:
        said = refused(Settings(home=tmp_path), *words, code=2, **{name: value})

        assert said == f"STAMMDATEN_{name.upper()} {allowed}"

    def test_take_one_worker_on_the_embedded_database(self, tmp_path: Path) -> None:
        said = refused(Settings(home=tmp_path), "serve", code=2, workers=2)

        assert said.startswith("STAMMDATEN_WORKERS must be 1 on the embedded SQLite database")
        assert "PostgreSQL" in said

    @pytest.mark.parametrize("url", ["postgresql://[", "postgresql://localhost:port/x", "postgresql://u:secret@h:p/x"])
    @pytest.mark.parametrize("words", [("serve",), ("check",), ("migrate",)], ids=" ".join)
    def test_are_named_where_the_url_cannot_be_read(self, tmp_path: Path, url: str, words: tuple[str, ...]) -> None:
        said = refused(Settings(home=tmp_path, database_url=url), *words, code=2)

        assert "STAMMDATEN_DATABASE_URL" in said
        assert "secret" not in said

    @pytest.mark.parametrize("words", [("serve",), ("check",), ("migrate",), ("instance", "list")], ids=" ".join)
    def test_are_good_but_the_server_is_away(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        url = f"postgresql://anna:secret@127.0.0.1:{free_port()}/stammdaten"

        said = refused(Settings(home=tmp_path, database_url=url), *words)

        assert said == "The database is not available at the moment; please try again."

    @pytest.mark.parametrize("words", [("serve",), ("check",), ("migrate",), ("instance", "list")], ids=" ".join)
    def test_are_good_but_the_home_is_a_file(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        (tmp_path / "file").write_text("not a folder")

        said = refused(Settings(home=tmp_path / "file"), *words)

        assert str(tmp_path / "file") in said

    @pytest.mark.parametrize("words", [("serve",), ("check",), ("migrate",), ("instance", "list")], ids=" ".join)
    def test_are_good_but_the_database_is_none(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        (tmp_path / "stammdaten.sqlite3").write_bytes(b"garbage" * 1_000)

        said = refused(Settings(home=tmp_path), *words)

        assert str(tmp_path) in said


# Without them, root may no more than what files allow; anybody else has none of them anyway.
WITHOUT_PRIVILEGES = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    ctypes.CDLL(None).prctl(24, capability)
os.execv(sys.argv[1], sys.argv[1:])
"""
# Commands that read a file, which is the last word.
READING: list[tuple[str, ...]] = [
    ("import", "--prefix", "acme", "--list", "spare-parts"),
    ("contact", "import", "--prefix", "acme"),
    ("sanctions", "load", "un"),
    ("product", "attach", "--prefix", "acme", "A-1"),
    ("restore",),
]


def unprivileged(settings: Settings, *words: str) -> Ended:
    """Run a command as somebody who may not do all to all files."""
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT_PRIVILEGES, STAMMDATEN, *words],
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(process.returncode, process.stdout, process.stderr)


class TestGivenFiles:
    """Files and folders that are named to commands, and cannot be used: said in one line, before anything is done."""

    @pytest.mark.parametrize("words", READING, ids=" ".join)
    def test_are_not_there(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        home, file = tmp_path / "home", tmp_path / "nowhere"

        said = refused(Settings(home=home), *words, str(file))

        assert said == f"There is no file {file}."
        assert not home.exists()

    @pytest.mark.parametrize("words", READING, ids=" ".join)
    @pytest.mark.parametrize("file", ["/dev/null", ".."])
    def test_are_there_but_no_files(self, tmp_path: Path, words: tuple[str, ...], file: str) -> None:
        home = tmp_path / "home"

        ended = run(Settings(home=home), *words, file)

        # A list of sanctions may be a folder of files.
        if (words[0], file) != ("sanctions", ".."):
            assert ended == Ended(1, "", f"{file} is not a regular file.\n")
            assert not home.exists()

    @pytest.mark.parametrize("words", [*READING, ("backup",)], ids=" ".join)
    def test_have_names_that_no_file_has(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        home, file = tmp_path / "home", tmp_path / ("x" * 300)

        said = refused(Settings(home=home), *words, str(file))

        assert said == f"{file}: File name too long."
        assert not home.exists()

    @pytest.mark.parametrize("words", READING, ids=" ".join)
    def test_may_not_be_read(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        home, file = tmp_path / "home", tmp_path / "secret"
        file.touch(mode=0)

        ended = unprivileged(Settings(home=home), *words, str(file))

        assert ended == Ended(1, "", f"{file}: Permission denied.\n")
        assert not home.exists()

    @pytest.mark.parametrize("words", [READING[0], READING[-1], ("backup",)], ids=" ".join)
    def test_are_in_a_folder_that_may_not_be_entered(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        home, file = tmp_path / "home", tmp_path / "secret" / "file"
        file.parent.mkdir(mode=0)

        ended = unprivileged(Settings(home=home), *words, str(file))

        assert ended == Ended(1, "", f"{file}: Permission denied.\n")
        assert not home.exists()

    def test_may_not_be_written_to(self, tmp_path: Path) -> None:
        home, out = tmp_path / "home", tmp_path / "out"
        out.mkdir(mode=0o500)

        ended = unprivileged(Settings(home=home), "export", "--prefix", "acme", "--out", str(out))

        assert ended == Ended(1, "", f"{out} cannot be used as a folder: Permission denied.\n")
        assert not home.exists()


class TestFailing:
    """`cli.running.failing`: what of an error of the system is said in one line, and what stays a traceback."""

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (OSError(errno.ENOSPC, "No space left on device"), "No space left on device.\n"),
            (OSError(errno.EACCES, "Permission denied", "/a"), "/a: Permission denied.\n"),
            (OSError(errno.EROFS, "Read-only file system", "/a", None, "/b"), "/a or /b: Read-only file system.\n"),
        ],
    )
    def test_says_what_can_be_mended(self, error: OSError, said: str) -> None:
        shown = io.StringIO()

        with redirect_stderr(shown), pytest.raises(SystemExit) as ended, failing():
            raise error

        assert (ended.value.code, shown.getvalue()) == (1, said)

    @pytest.mark.parametrize(
        "error", [FileNotFoundError(errno.ENOENT, "No such file", "/a"), OSError(), ConnectionResetError(errno.EPIPE)]
    )
    def test_lets_mistakes_of_ours_pass(self, error: OSError) -> None:
        with pytest.raises(type(error)), failing():
            raise error


def _listed(settings: Settings, *prefixes: str) -> list[list[str]]:
    """Return the lines of `instance list` on these prefixes, divided."""
    lines = [line.split("\t") for line in done(settings, "instance", "list")]
    return [line for line in lines if line[0] in prefixes]


@pytest.fixture
def unused() -> str:
    """Return a prefix that nobody has, with room for the longest ending."""
    return f"unused-{next(_numbers)}"


class TestCreateAccount:
    """`account create NAME --prefix P`."""

    def test_prints_the_prefixes_of_three_instances(self, service: Service, unused: str) -> None:
        lines = done(service.settings, "account", "create", f"Acme {unused}", "--prefix", unused)

        assert lines == [unused, f"{unused}-training", f"{unused}-test"]
        listed = [line[:3] for line in _listed(service.settings, *lines)]
        assert listed == [
            [unused, f"Acme {unused} (live)", f"Acme {unused}"],
            [f"{unused}-test", f"Acme {unused} (test)", f"Acme {unused}"],
            [f"{unused}-training", f"Acme {unused} (training)", f"Acme {unused}"],
        ]

    @pytest.mark.parametrize("prefix", ["a", "0", "-", "a-1", "x" * 54])
    def test_takes_any_prefix_that_leaves_room_for_the_longest(self, fresh: Settings, prefix: str) -> None:
        lines = done(fresh, "account", "create", "Acme", f"--prefix={prefix}")

        assert lines == [prefix, f"{prefix}-training", f"{prefix}-test"]

    @pytest.mark.parametrize(
        "prefix", ["", "Acme", "acme_1", "äcme", "a b", " acme", "acme\n", "a/b", "a.b", "y" * 55, "y" * 64, "\u0661"]
    )
    def test_refuses_other_prefixes(self, service: Service, unused: str, prefix: str) -> None:
        before = done(service.settings, "instance", "list")

        said = refused(service.settings, "account", "create", f"Acme {unused}", f"--prefix={prefix}")

        assert said.startswith("prefix must be 1 to 63 characters of a-z, 0-9 and -")
        assert done(service.settings, "instance", "list") == before

    @pytest.mark.parametrize(
        ("name", "prefix"), [("{}", "{}-else"), ("Else {}", "{}"), ("Else {}", "{}-test"), ("Else {}", "{}-other")]
    )
    def test_refuses_what_is_in_use_and_makes_none_of_it(
        self, service: Service, unused: str, name: str, prefix: str
    ) -> None:
        done(service.settings, "account", "create", unused, "--prefix", unused)
        done(service.settings, "instance", "create", f"{unused}-other-training")
        before = done(service.settings, "instance", "list")

        said = refused(service.settings, "account", "create", name.format(unused), "--prefix", prefix.format(unused))

        assert "already" in said
        assert done(service.settings, "instance", "list") == before

    @pytest.mark.parametrize("name", ["", " ", "a\nb", "a\tb", "x" * 256])
    def test_refuses_a_name_that_cannot_be_shown(self, service: Service, unused: str, name: str) -> None:
        said = refused(service.settings, "account", "create", name, "--prefix", unused)

        assert said.startswith("name must be")
        assert _listed(service.settings, unused) == []


class TestInstances:
    """`instance create` and `instance list`."""

    def test_are_none_in_a_new_database(self, fresh: Settings) -> None:
        lines = done(fresh, "instance", "list")

        assert lines == []

    def test_are_listed_by_prefix(self, fresh: Settings) -> None:
        for prefix in ("b", "a-1", "a", "0"):
            done(fresh, "instance", "create", prefix)

        lines = done(fresh, "instance", "list")

        assert [line.split("\t")[0] for line in lines] == ["0", "a", "a-1", "b"]

    @pytest.mark.parametrize(("options", "name"), [([], None), (["--name", "Acme GmbH"], "Acme GmbH")])
    def test_are_made_alone(self, service: Service, unused: str, options: list[str], name: str | None) -> None:
        before = datetime.now(UTC)

        lines = done(service.settings, "instance", "create", unused, *options)

        after = datetime.now(UTC)
        assert lines == [unused]
        [[*columns, created_at]] = _listed(service.settings, unused, f"{unused}-training", f"{unused}-test")
        assert columns == [unused, name or unused, unused]
        assert UTC_STAMP.fullmatch(created_at)
        assert before <= datetime.fromisoformat(created_at) <= after

    @pytest.mark.parametrize("prefix", ["", "Acme", "a_b", "x" * 64])
    def test_are_not_made_of_other_prefixes(self, service: Service, prefix: str) -> None:
        said = refused(service.settings, "instance", "create", prefix)

        assert said.startswith("prefix must be 1 to 63 characters of a-z, 0-9 and -")

    def test_have_prefixes_of_up_to_63_characters(self, service: Service, unused: str) -> None:
        prefix = unused.ljust(63, "x")

        lines = done(service.settings, "instance", "create", prefix)

        assert lines == [prefix]

    def test_are_not_made_twice(self, service: Service, unused: str) -> None:
        done(service.settings, "account", "create", unused, "--prefix", unused)
        before = done(service.settings, "instance", "list")

        said = refused(service.settings, "instance", "create", f"{unused}-test")

        assert "already" in said
        assert done(service.settings, "instance", "list") == before


IN_AN_INSTANCE: list[tuple[str, ...]] = [
    ("user", "create", "--name", "anna"),
    ("user", "add", "--name", "anna"),
    ("user", "role", "--name", "anna"),
    ("user", "disable", "--name", "anna"),
    ("user", "enable", "--name", "anna"),
    ("token", "create", "--user", "anna"),
    ("token", "list"),
    ("token", "revoke", "0123456789abcdef"),
    ("list", "create", "Spare Parts"),
    ("list", "delete", "1"),
    ("product", "show", "A-1"),
    ("product", "history", "A-1"),
    ("product", "archive", "A-1"),
    ("product", "unarchive", "A-1"),
    ("product", "delete", "A-1"),
    ("product", "restore", "A-1"),
    ("product", "classify", "A-1"),
    ("product", "eccn", "A-1"),
    ("product", "unlist", "A-1"),
    ("product", "attach", "A-1", __file__),
    ("product", "detach", "A-1", "1/x.pdf"),
    ("contact", "history", "K-1"),
    ("contact", "purge", "K-1"),
]


class TestPrefix:
    """`--prefix` of all commands that have one."""

    @pytest.mark.parametrize("prefix", ["nobody", "", "' OR 1=1 --"])
    @pytest.mark.parametrize("words", IN_AN_INSTANCE, ids=" ".join)
    def test_is_refused_where_it_is_unknown(self, service: Service, words: tuple[str, ...], prefix: str) -> None:
        said = refused(service.settings, *words, f"--prefix={prefix}", given=json.dumps(MANUAL))

        assert said == f"There is no instance with the prefix {prefix!r}."

    @pytest.mark.parametrize("words", [words for words in IN_AN_INSTANCE if words[0] == "product"], ids=" ".join)
    def test_keeps_products_of_another_instance_out(self, anna: Member, bruno: Member, words: tuple[str, ...]) -> None:
        make_product(anna)
        before = found_product(anna)

        said = refused(anna.service.settings, *words, "--prefix", bruno.prefix, given=json.dumps(MANUAL))

        assert said.startswith("There is no ")
        assert found_product(anna) == before

    @pytest.mark.parametrize("article_number", ["A-2", "a-1", "", " ", "%", "A-1\n\x01"])
    @pytest.mark.parametrize("words", [words for words in IN_AN_INSTANCE if words[0] == "product"], ids=" ".join)
    def test_has_no_such_product(self, anna: Member, words: tuple[str, ...], article_number: str) -> None:
        make_product(anna)
        noun, verb, _, *others = words

        said = refused(
            anna.service.settings,
            noun,
            verb,
            article_number,
            *others,
            "--prefix",
            anna.prefix,
            given=json.dumps(MANUAL),
        )

        assert said.startswith("There is no ")

    @pytest.mark.parametrize(
        "words", [("product", "show", "\udcff"), ("contact", "history", "\udcff"), ("token", "revoke", "\udcff")]
    )
    def test_has_nothing_named_by_what_is_no_text(self, anna: Member, words: tuple[str, ...]) -> None:
        # What Python makes of an argument that is no UTF-8.
        said = refused(anna.service.settings, *words, "--prefix", anna.prefix)

        assert said.startswith("There is no ")


class TestUsers:
    """`user create|add|role|disable|enable`."""

    def test_are_created_with_the_user_id_they_have_in_the_interface(self, anna: Member) -> None:
        [user_id] = done(
            anna.service.settings,
            *("user", "create", "--prefix", anna.prefix, "--name", "Carla"),
            *("--role", "api-user", "--role", "auditor"),
        )

        created = make_contact(_with_token(anna, "Carla"))
        assert (created["user_id"], created["user_name"]) == (int(user_id), "Carla")

    def test_are_nothing_in_particular_without_roles(self, anna: Member) -> None:
        done(anna.service.settings, "user", "create", "--prefix", anna.prefix, "--name", "Carla")

        carla = _with_token(anna, "Carla")
        assert carla.get("/lists").status_code == 200
        assert carla.get("/contacts").status_code == 403

    def test_have_names_that_are_unique_in_the_account(self, anna: Member) -> None:
        for prefix in (anna.prefix, f"{anna.prefix}-training"):
            said = refused(anna.service.settings, "user", "create", "--prefix", prefix, "--name", "anna")

            assert said.startswith("The account has a user named 'anna' already")
            assert "user add" in said

    def test_may_have_the_name_of_a_user_of_another_account(self, anna: Member, bruno: Member) -> None:
        lines = done(anna.service.settings, "user", "create", "--prefix", bruno.prefix, "--name", "anna")

        assert len(lines) == 1
        assert lines[0].isdigit()

    @pytest.mark.parametrize("name", ["", " ", "a\nb", "a\tb", "\x1b[31m", "x" * 256])
    def test_have_names_that_can_be_shown(self, anna: Member, name: str) -> None:
        said = refused(anna.service.settings, "user", "create", "--prefix", anna.prefix, "--name", name)

        assert said.startswith("name must be")

    def test_are_added_to_further_instances_of_their_account(self, anna: Member) -> None:
        training = f"{anna.prefix}-training"

        [user_id] = done(
            anna.service.settings,
            *("user", "add", "--prefix", training, "--name", "anna", "--role", "api-user"),
        )

        there = _with_token(anna, "anna", prefix=training)
        assert make_contact(there)["user_id"] == int(user_id)
        assert make_contact(anna)["user_name"] == "anna"

    def test_have_roles_of_their_own_in_each_instance(self, anna: Member) -> None:
        training = f"{anna.prefix}-training"
        done(anna.service.settings, "user", "add", "--prefix", training, "--name", "anna", "--role", "auditor")

        there = _with_token(anna, "anna", prefix=training)

        assert (there.get("/contacts").status_code, anna.get("/contacts").status_code) == (403, 200)

    def test_are_added_from_another_account(self, anna: Member, bruno: Member) -> None:
        [user_id] = done(
            anna.service.settings,
            *("user", "add", "--prefix", anna.prefix, "--name", "bruno"),
            *("--from", f"{bruno.prefix}-test", "--role", "api-user"),
        )

        guest = _with_token(anna, "bruno")
        created = make_contact(guest)
        assert (created["user_name"], created["user_id"]) == ("bruno", int(user_id))
        assert bruno.get("/contacts").json()["total"] == 0

    @pytest.mark.parametrize(
        ("name", "origin", "sentence"),
        [
            ("nobody", "", "The account has no user named 'nobody'."),
            ("bruno", "", "The account has no user named 'bruno'."),
            ("anna", "", "'anna' is a member of this instance already."),
            ("anna", "nowhere", "There is no instance with the prefix 'nowhere'."),
        ],
    )
    def test_are_added_once_and_only_where_they_are_known(
        self, anna: Member, bruno: Member, name: str, origin: str, sentence: str
    ) -> None:
        said = refused(anna.service.settings, "user", "add", "--prefix", anna.prefix, "--name", name, "--from", origin)

        assert said == sentence

    @pytest.mark.parametrize(
        ("roles", "status"),
        [(["api-user"], 200), (["auditor", "api-user"], 200), (["clerk", "client-admin"], 403), ([], 403)],
    )
    def test_get_these_roles_and_no_others(self, anna: Member, roles: list[str], status: int) -> None:
        options = [word for role in roles for word in ("--role", role)]

        lines = done(anna.service.settings, "user", "role", "--prefix", anna.prefix, "--name", "anna", *options)

        assert lines == []
        assert _with_token(anna, "anna").get("/contacts").status_code == status

    @pytest.mark.parametrize(
        "role",
        ["client-admin", "extended-clerk", "clerk", "article-processor", "auditor", "auditor-internal", "api-user"],
    )
    def test_may_have_each_role(self, anna: Member, role: str) -> None:
        lines = done(anna.service.settings, "user", "role", "--prefix", anna.prefix, "--name", "anna", "--role", role)

        assert lines == []

    def test_lose_a_role_within_two_seconds(self, anna: Member) -> None:
        anna.get("/contacts")

        done(anna.service.settings, "user", "role", "--prefix", anna.prefix, "--name", "anna")

        time.sleep(LONGEST_MEMORY)
        assert anna.get("/contacts").status_code == 403

    def test_are_shut_out_of_all_their_instances_within_two_seconds(self, anna: Member) -> None:
        training = f"{anna.prefix}-training"
        done(anna.service.settings, "user", "add", "--prefix", training, "--name", "anna")
        there = _with_token(anna, "anna", prefix=training)
        assert (anna.get("/lists").status_code, there.get("/lists").status_code) == (200, 200)

        done(anna.service.settings, "user", "disable", "--prefix", anna.prefix, "--name", "anna")

        time.sleep(LONGEST_MEMORY)
        assert {anna.get("/lists").status_code, there.get("/lists").status_code} == {401}

    def test_are_let_in_again(self, anna: Member) -> None:
        done(anna.service.settings, "user", "disable", "--prefix", anna.prefix, "--name", "anna")
        token = _with_token(anna, "anna")
        assert token.get("/lists").status_code == 401

        done(anna.service.settings, "user", "enable", "--prefix", anna.prefix, "--name", "anna")

        assert token.get("/lists").status_code == 200

    @pytest.mark.parametrize("verb", ["role", "disable", "enable"])
    @pytest.mark.parametrize("name", ["nobody", "bruno", "Anna", ""])
    def test_are_members_of_the_instance(self, anna: Member, bruno: Member, verb: str, name: str) -> None:
        said = refused(anna.service.settings, "user", verb, "--prefix", anna.prefix, "--name", name)

        assert said == f"This instance has no user named {name!r}."


class TestTokens:
    """`token create|list|revoke`."""

    def test_stand_on_the_last_line_and_open_the_door(self, anna: Member) -> None:
        lines = done(anna.service.settings, "token", "create", "--prefix", anna.prefix, "--user", "anna")

        assert TOKEN.fullmatch(lines[-1])
        assert _bearing(anna, lines[-1]).get("/lists").status_code == 200
        assert anna.get("/lists").status_code == 200

    def test_differ_each_time(self, anna: Member) -> None:
        words = ("token", "create", "--prefix", anna.prefix, "--user", "anna")

        tokens = {done(anna.service.settings, *words)[-1] for _ in range(5)}

        assert len(tokens) == 5

    @pytest.mark.parametrize("name", ["nobody", "bruno", ""])
    def test_are_for_members_of_the_instance(self, anna: Member, bruno: Member, name: str) -> None:
        said = refused(anna.service.settings, "token", "create", "--prefix", anna.prefix, "--user", name)

        assert said == f"This instance has no user named {name!r}."

    @pytest.mark.parametrize(("days", "status"), [("0", 401), ("0.0", 401), ("0.5", 200), ("1", 200), ("36500", 200)])
    def test_hold_for_some_days(self, anna: Member, days: str, status: int) -> None:
        words = ("token", "create", "--prefix", anna.prefix, "--user", "anna", "--expires-in", days)

        before = datetime.now(UTC)
        token = done(anna.service.settings, *words)[-1]
        after = datetime.now(UTC)

        assert _bearing(anna, token).get("/lists").status_code == status
        expires = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)[-1].split("\t")[3]
        assert before <= datetime.fromisoformat(expires) - timedelta(days=float(days)) <= after

    def test_stop_when_they_expire(self, anna: Member) -> None:
        words = ("token", "create", "--prefix", anna.prefix, "--user", "anna", "--expires-in", str(10 / 86_400))
        member = _bearing(anna, done(anna.service.settings, *words)[-1])
        assert member.get("/lists").status_code == 200

        assert happens(lambda: member.get("/lists").status_code == 401, within=PATIENCE)

    @pytest.mark.parametrize("days", ["1e300", "1e12", "4000000", "inf", "nan"])
    def test_are_not_made_for_longer_than_time_goes(self, anna: Member, days: str) -> None:
        words = ("token", "create", "--prefix", anna.prefix, "--user", "anna", "--expires-in", days)

        ended = run(anna.service.settings, *words)

        assert (ended.code in {1, 2}, ended.out) == (True, "")
        assert "expires" in ended.err

    def test_are_listed_without_being_shown(self, anna: Member) -> None:
        words = ("token", "create", "--prefix", anna.prefix, "--user", "anna", "--expires-in", "1")
        token = done(anna.service.settings, *words)[-1]

        lines = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)

        first, second = (line.split("\t") for line in lines)
        assert [len(first), len(second)] == [5, 5]
        assert (first[1], first[3], first[4]) == ("anna", "-", "-")
        assert (second[1], second[4]) == ("anna", "-")
        assert all(UTC_STAMP.fullmatch(stamp) for stamp in (first[2], second[2], second[3]))
        assert not re.search(r"st_|[0-9a-f]{32}", "\n".join(lines))
        assert not any(part in "\n".join(lines) for part in (token, anna.token, token[3:11]))

    def test_are_listed_for_their_instance_alone(self, anna: Member, bruno: Member) -> None:
        lines = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)

        assert [line.split("\t")[1] for line in lines] == ["anna"]

    @pytest.mark.parametrize("by", ["token", "hash"])
    def test_stop_within_two_seconds_of_being_revoked(self, anna: Member, by: str) -> None:
        carla = anna.service.colleague(anna, "carla", roles=[])
        listed = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)
        hashes = {line.split("\t")[1]: line.split("\t")[0] for line in listed}
        assert carla.get("/lists").status_code == 200
        given = carla.token if by == "token" else hashes["carla"]

        lines = done(anna.service.settings, "token", "revoke", "--prefix", anna.prefix, given)

        assert lines == []
        time.sleep(LONGEST_MEMORY)
        assert carla.get("/lists").status_code == 401
        assert anna.get("/lists").status_code == 200
        revoked = {
            line.split("\t")[1]: line.split("\t")[4]
            for line in done(anna.service.settings, "token", "list", "--prefix", anna.prefix)
        }
        assert revoked["anna"] == "-"
        assert UTC_STAMP.fullmatch(revoked["carla"])

    def test_are_revoked_once(self, anna: Member) -> None:
        done(anna.service.settings, "token", "revoke", "--prefix", anna.prefix, anna.token)

        said = refused(anna.service.settings, "token", "revoke", "--prefix", anna.prefix, anna.token)

        assert said == "There is no such token that is not revoked yet."

    @pytest.mark.parametrize("given", ["", "%", "st_nonsense", "0", "0123456789abcdef", "_______________", "f" * 64])
    def test_are_revoked_only_where_they_are_known(self, anna: Member, given: str) -> None:
        said = refused(anna.service.settings, "token", "revoke", "--prefix", anna.prefix, given)

        assert said == "There is no such token that is not revoked yet."
        assert anna.get("/lists").status_code == 200

    def test_are_not_revoked_by_a_few_digits_of_their_hash(self, anna: Member) -> None:
        [listed] = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)

        refused(anna.service.settings, "token", "revoke", "--prefix", anna.prefix, listed[:7])

        assert done(anna.service.settings, "token", "list", "--prefix", anna.prefix) == [listed]

    def test_are_not_revoked_from_another_instance(self, anna: Member, bruno: Member) -> None:
        refused(anna.service.settings, "token", "revoke", "--prefix", bruno.prefix, anna.token)

        listed = done(anna.service.settings, "token", "list", "--prefix", anna.prefix)
        assert [line.split("\t")[4] for line in listed] == ["-"]


def _bearing(member: Member, token: str, *, prefix: str = "") -> Member:
    """Return a member who sends another token, to the same instance or to another."""
    other = copy.copy(member)
    other.token = token
    if prefix:
        other.prefix, other.instance_id = prefix, member.service.instance_id(prefix)
    return other


def _with_token(member: Member, name: str, *, prefix: str = "") -> Member:
    """Return a user of the member's instance, or of another of the account, with a new token."""
    words = ("token", "create", "--prefix", prefix or member.prefix, "--user", name)
    return _bearing(member, done(member.service.settings, *words)[-1], prefix=prefix)


class TestLists:
    """`list create|delete`."""

    def test_print_their_id_last(self, anna: Member) -> None:
        lines = done(anna.service.settings, "list", "create", "--prefix", anna.prefix, "Ersatzteile & Zubehör")

        made = anna.get("/lists").json()["lists"][-1]
        assert (made["id"], made["slug"], made["name"], made["is_deleted"]) == (
            lines[-1],
            "ersatzteile-zubehoer",
            "Ersatzteile & Zubehör",
            False,
        )

    @pytest.mark.parametrize("slug", ["x", "a-1", "x" * 63])
    def test_take_a_slug(self, anna: Member, slug: str) -> None:
        done(anna.service.settings, "list", "create", "--prefix", anna.prefix, "Goods", "--slug", slug)

        assert anna.get("/lists").json()["lists"][-1]["slug"] == slug

    @pytest.mark.parametrize("slug", ["", "Goods", "a_b", "ä", "a b", "x" * 64])
    def test_take_no_other_slug(self, anna: Member, slug: str) -> None:
        said = refused(anna.service.settings, "list", "create", "--prefix", anna.prefix, "Goods", f"--slug={slug}")

        assert said == "slug must be 1 to 63 characters of a-z, 0-9 and -"

    def test_take_no_slug_twice(self, anna: Member) -> None:
        said = refused(
            anna.service.settings, "list", "create", "--prefix", anna.prefix, "Else", "--slug", "spare-parts"
        )

        assert said == "There is a product list with the slug 'spare-parts' already."
        assert len(anna.get("/lists").json()["lists"]) == 1

    @pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 256])
    def test_have_names_that_can_be_shown(self, anna: Member, name: str) -> None:
        said = refused(anna.service.settings, "list", "create", "--prefix", anna.prefix, name)

        assert said.startswith("name must be")

    def test_take_no_products_once_deleted(self, anna: Member) -> None:
        make_product(anna)

        lines = done(anna.service.settings, "list", "delete", "--prefix", anna.prefix, str(anna.list_id))

        assert lines == []
        assert [each["is_deleted"] for each in anna.get("/lists").json()["lists"]] == [True]
        product = {"article_number": "A-2", "designation": "Nut"}
        assert anna.post("/products", {"list_id": anna.list_id, "product": product}).status_code == 404
        assert found_product(anna)["is_deleted"] is False

    def test_are_deleted_once(self, anna: Member) -> None:
        done(anna.service.settings, "list", "delete", "--prefix", anna.prefix, str(anna.list_id))

        said = refused(anna.service.settings, "list", "delete", "--prefix", anna.prefix, str(anna.list_id))

        assert said == "There is no such product list."

    def test_are_deleted_only_where_they_are_known(self, anna: Member, bruno: Member) -> None:
        foreign = make_list(bruno, "Foreign")
        product_id = make_product(anna)

        for list_id in (foreign + 1_000, product_id, 2**53):
            said = refused(anna.service.settings, "list", "delete", "--prefix", anna.prefix, str(list_id))

            assert said == "There is no such product list."
        assert all(not each["is_deleted"] for each in bruno.get("/lists").json()["lists"])

    @pytest.mark.parametrize("list_id", [0, -1, 2**53 + 1, 2**63, -(2**63) - 1, 10**30])
    def test_have_numbers_as_the_interface_has_them(self, anna: Member, list_id: int) -> None:
        said = refused(anna.service.settings, "list", "delete", "--prefix", anna.prefix, "--", str(list_id), code=2)

        assert "list_id" in said


class TestShowProduct:
    """`product show`."""

    def test_prints_what_the_interface_shows_on_one_line(self, anna: Member) -> None:
        make_product(anna, designation="Schraube „M8“ 螺栓 " + "x" * 900, feature1="a, b; c")

        [line] = done(anna.service.settings, "product", "show", "--prefix", anna.prefix, "A-1")

        assert json.loads(line) == found_product(anna)

    def test_trims_the_number(self, anna: Member) -> None:
        make_product(anna)

        [line] = done(anna.service.settings, "product", "show", "--prefix", anna.prefix, " A-1 ")

        assert json.loads(line)["article_number"] == "A-1"

    def test_shows_the_live_one_before_deleted_ones(self, anna: Member) -> None:
        ids = _made_and_deleted(anna, 2)
        live = make_product(anna)

        [line] = done(anna.service.settings, "product", "show", "--prefix", anna.prefix, "A-1")

        assert json.loads(line)["id"] == live
        assert live not in ids

    def test_shows_the_newest_deleted_one_where_none_is_live(self, anna: Member) -> None:
        ids = _made_and_deleted(anna, 2)

        [line] = done(anna.service.settings, "product", "show", "--prefix", anna.prefix, "A-1")

        shown = json.loads(line)
        assert (shown["id"], shown["is_deleted"]) == (ids[-1], True)


def _made_and_deleted(member: Member, times: int) -> list[int]:
    ids = []
    for _ in range(times):
        ids.append(make_product(member))
        done(member.service.settings, "product", "delete", "--prefix", member.prefix, "A-1")
    return ids


class TestStandingOfProducts:
    """`product archive|unarchive|delete|restore`."""

    def test_is_archived_and_brought_back(self, anna: Member) -> None:
        make_product(anna)
        shown = []
        for verb in ("archive", "archive", "unarchive", "unarchive"):
            stamp = found_product(anna)["updated_at"]

            assert done(anna.service.settings, "product", verb, "--prefix", anna.prefix, "A-1") == []

            listed = anna.get("/products", timestamp=stamp).json()["products"]
            archived = anna.get("/products", timestamp=stamp, include_archived="true").json()["products"]
            shown.append((len(listed), len(archived)))

        assert shown == [(0, 1), (0, 1), (1, 1), (1, 1)]

    def test_is_deleted_with_its_number_free(self, anna: Member) -> None:
        first = make_product(anna)

        assert done(anna.service.settings, "product", "delete", "--prefix", anna.prefix, "A-1") == []

        assert anna.post("/products/find", {"article_number": "A-1"}).status_code == 404
        assert found_product(anna, deleted=True)["id"] == first
        assert make_product(anna) != first

    def test_is_restored_from_the_newest_deleted_one(self, anna: Member) -> None:
        ids = _made_and_deleted(anna, 2)

        assert done(anna.service.settings, "product", "restore", "--prefix", anna.prefix, "A-1") == []

        restored = found_product(anna)
        assert (restored["id"], restored["is_deleted"]) == (ids[-1], False)
        assert found_product(anna, deleted=True)["id"] == ids[0]

    def test_is_not_restored_while_the_number_is_in_use(self, anna: Member) -> None:
        _made_and_deleted(anna, 1)
        live = make_product(anna)

        said = refused(anna.service.settings, "product", "restore", "--prefix", anna.prefix, "A-1")

        assert said == "The article_number is in use by another product."
        assert found_product(anna)["id"] == live

    @pytest.mark.parametrize("verb", ["archive", "unarchive", "delete", "classify", "eccn", "unlist"])
    def test_is_that_of_a_live_product(self, anna: Member, verb: str) -> None:
        _made_and_deleted(anna, 1)

        said = refused(anna.service.settings, "product", verb, "--prefix", anna.prefix, "A-1", given=json.dumps(MANUAL))

        assert said == "There is no product with this article_number."


class TestClassifyProduct:
    """`product classify`: JSON on standard input."""

    @pytest.mark.parametrize(
        "record",
        [
            MANUAL,
            {"type": "special", "ctn": "99050000", "is_fixed": True},
            {"type": "cmp_vzta", "ctn": "8501522090", "bti": "DEBTI00000/25-1", "valid_until": "2099-12-31"},
            {"type": "grt_vzta", "ctn": "85015220", "bti_found": "DEBTI00001/22-1", "reason": "ähnlich"},
        ],
        ids=lambda record: record["type"],
    )
    def test_records_each_type(self, anna: Member, record: dict[str, Any]) -> None:
        make_product(anna)

        lines = done(
            anna.service.settings,
            *("product", "classify", "--prefix", anna.prefix, "A-1"),
            given=json.dumps(record, ensure_ascii=False),
        )

        shown = found_product(anna)["classification"]
        assert lines == []
        assert {name: shown[name] for name in record} == {**record, "ctn": re.sub("[ .]", "", record["ctn"])}
        assert shown["status"] == "classified"

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("", "The body must be a JSON object; it is empty."),
            ("{", "The body must be JSON"),
            ("\udcff", "The body must be UTF-8"),
            ("[]", "classification.type must be one of"),
            ("{}", "classification.type must be one of"),
            ('{"type": "other", "ctn": "85015220"}', "classification.type must be one of"),
            ('{"type": ["manual"], "ctn": "85015220"}', "classification.type must be one of"),
            ('{"type": "manual"}', "classification.ctn is required"),
            ('{"type": "manual", "ctn": "850152"}', "classification.ctn must be a tariff number"),
            ('{"type": "manual", "ctn": 85015220}', "classification.ctn must be a String"),
            ('{"type": "manual", "ctn": "85015220", "reason": "a\\u0000"}', "reason must not hold NUL"),
            ('{"type": "manual", "ctn": "85015220", "reason": "\\ud800"}', "reason must not hold lone surrogates"),
            ('{"type": "grt_vzta", "ctn": "85015220", "valid_from": "2026-02-30"}', "classification.valid_from must"),
            ('{"type": "manual", "ctn": "85015220", "is_fixed": NaN}', "NaN"),
        ],
    )
    def test_refuses_what_is_no_record(self, anna: Member, given: str, said: str) -> None:
        make_product(anna)
        before = found_product(anna)

        sentence = refused(anna.service.settings, "product", "classify", "--prefix", anna.prefix, "A-1", given=given)

        assert said in sentence
        assert found_product(anna) == before


class TestEccn:
    """`product eccn`."""

    @pytest.mark.parametrize(
        ("options", "eccns"),
        [
            (["--code", "3A225"], {"codes": "3A225", "comment": ""}),
            (["--code", "3A225", "--code", "EAR99"], {"codes": "3A225, EAR99", "comment": ""}),
            (["--comment", "geprüft"], {"codes": "", "comment": "geprüft"}),
            (["--code", "EAR99", "--comment", "a\nb"], {"codes": "EAR99", "comment": "a\nb"}),
            (["--comment", "x" * 4_000], {"codes": "", "comment": "x" * 4_000}),
            ([], None),
        ],
    )
    def test_records_codes_and_a_comment(self, anna: Member, options: list[str], eccns: dict[str, str] | None) -> None:
        make_product(anna)
        done(anna.service.settings, "product", "eccn", "--prefix", anna.prefix, "A-1", "--code", "1A001")

        lines = done(anna.service.settings, "product", "eccn", "--prefix", anna.prefix, "A-1", *options)

        assert lines == []
        assert found_product(anna)["eccns"] == eccns

    @pytest.mark.parametrize("option", ["--code", "--comment"])
    def test_refuses_what_is_too_long(self, anna: Member, option: str) -> None:
        make_product(anna)

        said = refused(anna.service.settings, "product", "eccn", "--prefix", anna.prefix, "A-1", option, "x" * 4_001)

        assert "must not be longer than" in said
        assert found_product(anna)["eccns"] is None


class TestUnlist:
    """`product unlist [--off]`."""

    def test_marks_and_takes_the_mark_away(self, anna: Member) -> None:
        make_product(anna)
        marks = []
        for options in ([], [], ["--off"], ["--off"]):
            assert done(anna.service.settings, "product", "unlist", "--prefix", anna.prefix, "A-1", *options) == []

            marks.append(found_product(anna)["is_unlisted"])

        assert marks == [True, True, False, False]


class TestFiles:
    """`product attach|detach`."""

    @pytest.mark.parametrize("name", ["data-sheet.pdf", "Datenblatt für Ünit 1.pdf", "鍵.bin", "no ending", ".hidden"])
    def test_are_copied_and_named_on_the_product(self, anna: Member, tmp_path: Path, name: str) -> None:
        product_id = make_product(anna)
        file = tmp_path / name
        file.write_bytes(b"\0\xffcontent")

        lines = done(anna.service.settings, "product", "attach", "--prefix", anna.prefix, "A-1", str(file))

        [attached] = found_product(anna)["files"]
        assert attached == {"path": lines[-1], "username": "operator", "date": attached["date"]}
        assert lines[-1] == f"{product_id}/{name}"
        kept = anna.service.settings.home / "files" / str(anna.instance_id) / lines[-1]
        file.unlink()
        assert kept.read_bytes() == b"\0\xffcontent"

    def test_may_be_several(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna)
        paths = []
        for name in ("b.pdf", "a.pdf"):
            (tmp_path / name).write_text(name)
            words = ("product", "attach", "--prefix", anna.prefix, "A-1", str(tmp_path / name))
            paths.append(done(anna.service.settings, *words)[-1])

        assert [file["path"] for file in found_product(anna)["files"]] == paths

    def test_are_not_overwritten(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna)
        file = tmp_path / "a.pdf"
        file.write_text("first")
        words = ("product", "attach", "--prefix", anna.prefix, "A-1", str(file))
        path = done(anna.service.settings, *words)[-1]
        file.write_text("second")

        said = refused(anna.service.settings, *words)

        folder = anna.service.settings.home / "files" / str(anna.instance_id)
        assert said == "The product has a file of this path already."
        assert (folder / path).read_text() == "first"
        assert [each.name for each in (folder / path).parent.iterdir()] == ["a.pdf"]

    def test_are_detached_with_their_copy(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna)
        (tmp_path / "a.pdf").write_text("first")
        words = ("product", "attach", "--prefix", anna.prefix, "A-1", str(tmp_path / "a.pdf"))
        path = done(anna.service.settings, *words)[-1]

        lines = done(anna.service.settings, "product", "detach", "--prefix", anna.prefix, "A-1", path)

        assert lines == []
        assert found_product(anna)["files"] == []
        assert not (anna.service.settings.home / "files" / str(anna.instance_id) / path).exists()
        assert (tmp_path / "a.pdf").exists()

    @pytest.mark.parametrize("path", ["", "a.pdf", "../../../stammdaten.sqlite3", "/etc/hosts", "0/a.pdf"])
    def test_are_detached_only_where_they_are_attached(self, anna: Member, path: str) -> None:
        make_product(anna)
        before = found_product(anna)

        said = refused(anna.service.settings, "product", "detach", "--prefix", anna.prefix, "A-1", path)

        assert said == "The product has no file of this path."
        assert found_product(anna) == before

    def test_have_names_that_can_be_shown(self, anna: Member, tmp_path: Path) -> None:
        make_product(anna)
        file = tmp_path / "a\nb.pdf"
        file.write_text("first")

        said = refused(anna.service.settings, "product", "attach", "--prefix", anna.prefix, "A-1", str(file))

        assert said == "file must have a printable name of at most 200 characters"
        assert found_product(anna)["files"] == []


class TestJobs:
    """`job list`."""

    def test_are_none_in_a_new_database(self, fresh: Settings) -> None:
        lines = done(fresh, "job", "list")

        assert lines == []

    def test_are_a_line_each_whatever_their_report_holds(self, fresh: Settings) -> None:
        _asked(fresh, "some", "key")
        execute(fresh, "UPDATE jobs SET report = 'two\nlines\tand \"cells\"'")

        (line,) = done(fresh, "job", "list")

        job_id, *cells, created, finished = line.split("\t")
        assert cells == ["some", "key", "waiting", "0", "{}", 'two lines and "cells"']
        assert (job_id.isdigit(), bool(UTC_STAMP.fullmatch(created)), finished) == (True, True, "-")


def _asked(settings: Settings, kind: str, key: str, prefix: str = "") -> None:
    """Ask for a job, of an instance or of none."""

    async def ask_for() -> None:
        async with await open_store(settings) as store:
            owner = await instance_id_of(store, prefix) if prefix else 0
            await ask(store, kind=kind, key=key, now=utc_stamp(utc_now()), owner=owner)

    asyncio.run(ask_for())


@pytest.fixture
def stocked(fresh: Settings) -> Settings:
    """A database with the instance `acme`, which has a product list."""
    done(fresh, "account", "create", "Acme", "--prefix", "acme")
    done(fresh, "list", "create", "--prefix", "acme", "Spare Parts")
    return fresh


class TestImport:
    """`import`; what it imports is told by `test_exchange`."""

    WORDS = ("import", "--prefix", "acme", "--list", "spare-parts")

    def test_says_once_why_a_file_is_refused(self, stocked: Settings, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("article_number;nonsense\nA-1;x\n")

        ended = _ended(_start(stocked, *self.WORDS, str(tmp_path / "a.csv")))

        assert (ended.code, ended.err.count("nonsense"), ended.err.count("\n")) == (1, 1, 1)
        counts, report = ended.out.splitlines()
        assert counts == "0 created, 0 updated, 0 unchanged, 0 refused, 0 warnings, up to line 0"
        assert "nonsense" in Path(report).read_text()

    def test_counts_one_warning_as_one(self, stocked: Settings, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("article_number;description1;country_of_origin_made_in\nA-1;Bolt;ZZ\n")

        ended = _ended(_start(stocked, *self.WORDS, str(tmp_path / "a.csv")))

        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("1 created, 0 updated, 0 unchanged, 0 refused, 1 warning, up to line 2\n")

    def test_leaves_other_kinds_of_jobs_to_others(self, stocked: Settings, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("article_number;description1\nA-1;Bolt\n")
        _asked(stocked, EXPORT, "of-somebody-else", "acme")

        ended = _ended(_start(stocked, *self.WORDS, str(tmp_path / "a.csv")))

        states = {line.split("\t")[1]: line.split("\t")[3] for line in done(stocked, "job", "list")}
        assert (ended.code, states) == (0, {EXPORT: "waiting", IMPORT: "done"})

    def test_tells_what_goes_on_when_it_is_interrupted(self, stocked: Settings, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("article_number;description1\nA-1;Bolt\n")
        # Files of an instance are imported in the order in which they came, and this one takes for ever.
        _asked(stocked, IMPORT, "held", "acme")
        execute(stocked, "UPDATE jobs SET state = 'running', claimed_by = 'somebody', claimed_until = '9999'")

        process = _start(stocked, *self.WORDS, str(tmp_path / "a.csv"))
        # The file is kept, and the folder in which it was copied is gone.
        kept = re.compile(r"[0-9]+\.given")
        assert happens(lambda: any(map(kept.fullmatch, _names(stocked.home / "imports"))), within=PATIENCE)
        assert happens(lambda: not any("upload" in name for name in _names(stocked.home / "imports")), within=PATIENCE)
        process.send_signal(signal.SIGINT)
        ended = _ended(process)

        (given,) = (stocked.home / "imports").glob("*/*.given")
        said = f"Import {given.stem} goes on wherever the service is served; its report will be "
        assert ended == Ended(130, "", f"Interrupted. {said}{given.with_suffix('.report.csv')}.\n")


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*/*")]


@pytest.fixture
def collecting() -> Iterator[None]:
    """Mend what a process that does nothing else sets: when garbage is looked for."""
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


class TestWorkedOff:
    """`cli.exchange._worked_off`."""

    def test_keeps_what_was_found_when_the_work_dies(self, fresh: Settings, collecting: None) -> None:
        execute(fresh, "DROP TABLE jobs")
        looks = iter([None, "found"])

        async def look() -> str | None:
            return next(looks)

        async def wait_for_it() -> str:
            async with await open_store(fresh) as store:
                return await _worked_off(store, IMPORT, look)

        assert asyncio.run(wait_for_it()) == "found"

    def test_tells_why_the_work_died_where_nothing_is_found(self, fresh: Settings, collecting: None) -> None:
        execute(fresh, "DROP TABLE jobs")

        async def look() -> str | None:
            return None

        async def wait_for_it() -> str:
            async with await open_store(fresh) as store:
                return await _worked_off(store, IMPORT, look)

        with pytest.raises(NoSuchTable):
            asyncio.run(wait_for_it())


class TestMoved:
    """`cli.exchange._moved`: into a folder, over nothing."""

    def test_finds_a_name_for_each_of_many_at_once(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir()
        (out / "a.csv").symlink_to(tmp_path / "nowhere")
        files = [tmp_path / str(number) / "a.csv" for number in range(40)]
        for file in files:
            file.parent.mkdir()
            file.write_text(file.parent.name)

        with ThreadPoolExecutor(8) as threads:
            moved = list(threads.map(lambda file: _moved(file, out), files))

        assert [path.read_text() for path in moved] == [str(number) for number in range(40)]
        assert {path.name for path in moved} == {f"a.{number}.csv" for number in range(2, 42)}
        assert len(list(out.iterdir())) == 41

    def test_reaches_another_disk(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("kept")

        with tempfile.TemporaryDirectory(dir="/dev/shm") as out:
            moved = _moved(tmp_path / "a.csv", Path(out))
            there = [path.name for path in Path(out).iterdir()]
            text = moved.read_text()

        assert (moved.name, there, text) == ("a.csv", ["a.csv"], "kept")
        assert not (tmp_path / "a.csv").exists()


TAMPERED = ("products", "classifications", "contacts", "lists", "clocks")


@pytest.fixture(scope="module")
def intact(copied: Callable[[], Settings]) -> Settings:
    """Fill a database with one classified product and two contacts, one archived; keep a copy of each table in it."""
    settings = copied()
    with Service(settings) as service:
        anna = service.member("anna", roles=["api-user"])
        make_product(anna)
        make_contact(anna, "K-1")
        make_contact(anna, "K-2", is_archived=True)
    done(settings, "product", "classify", "--prefix", anna.prefix, "A-1", given=json.dumps(MANUAL))
    execute(settings, ";".join(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}" for table in TAMPERED))
    return settings


@pytest.fixture
def filled(intact: Settings) -> Iterator[Settings]:
    """Lend the filled database to a test that tampers with it, and mend it afterwards."""
    yield intact
    execute(
        intact,
        ";".join(f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}" for table in TAMPERED),
    )


class TestCheck:
    """`check`."""

    def test_says_that_everything_agrees(self, filled: Settings) -> None:
        lines = done(filled, "check")

        assert lines == ["everything agrees"]

    def test_has_nothing_against_an_empty_database(self, fresh: Settings) -> None:
        lines = done(fresh, "check")

        assert lines == ["everything agrees"]

    @pytest.mark.parametrize(
        ("sql", "found"),
        [
            ("UPDATE products SET designation = 'tampered'", "the document of product"),
            ("UPDATE products SET is_unlisted = NOT is_unlisted", "the document of product"),
            (
                "UPDATE products SET document = (SELECT document FROM contacts WHERE contact_uid = 'K-1')",
                "the document of product",
            ),
            ("UPDATE classifications SET ctn = '01012100'", "the document of product"),
            ("DELETE FROM classifications", "the document of product"),
            ("UPDATE contacts SET city = 'tampered'", "the document of contact"),
            ("UPDATE contacts SET status = 'green' WHERE contact_uid = 'K-2'", "the document of contact"),
            ("UPDATE contacts SET document = (SELECT document FROM products)", "the document of contact"),
            ("UPDATE contacts SET folded_name = 'tampered'", "contact"),
            ("UPDATE clocks SET contacts = contacts + 1", "the totals of contacts are"),
            ("UPDATE clocks SET contacts = 0", "the totals of contacts are"),
            ("UPDATE clocks SET archived_contacts = 0", "the totals of contacts are"),
            ("DELETE FROM contacts WHERE contact_uid = 'K-2'", "the totals of contacts are"),
            ("UPDATE clocks SET product_stamp = '2001-01-01T00:00:00.000000'", "a product has the stamp"),
            ("UPDATE clocks SET contact_stamp = '2001-01-01T00:00:00.000000Z'", "a contact has the stamp"),
            ("UPDATE clocks SET product_stamp = '2999-01-01T00:00:00.000000'", "ahead of the wall clock"),
            ("UPDATE clocks SET contact_stamp = '2999-01-01T00:00:00.000000Z'", "ahead of the wall clock"),
            ("UPDATE lists SET updated_at = '2999-01-01T00:00:00.000000'", "a list has the stamp"),
            ("UPDATE clocks SET last_id = 1", "the counter is at 1"),
            ("DELETE FROM products", "has no product"),
            ("DELETE FROM lists", "is in no list"),
        ],
    )
    def test_finds_what_was_tampered_with(self, filled: Settings, sql: str, found: str) -> None:
        execute(filled, sql)

        ended = run(filled, "check")

        assert ended.code == 1
        assert found in ended.out + ended.err
        assert "everything agrees" not in ended.out

    def test_changes_nothing(self, filled: Settings) -> None:
        execute(filled, "UPDATE products SET designation = 'tampered'")

        first, second = run(filled, "check"), run(filled, "check")

        assert first == second


@pytest.fixture
def unmigrated(fresh: Settings, tmp_path: Path) -> Settings:
    """Return a database without a schema: a folder that does not exist yet, or an empty database of the server."""
    if fresh.database_url is None:
        return Settings(home=tmp_path / "new" / "home")
    execute(fresh, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return fresh


def _start(settings: Settings, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [STAMMDATEN, *words],
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may ignore it, and would hand that down.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads to harm
    )


def _ended(process: "subprocess.Popen[str]") -> Ended:
    out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, out, err)


class TestMigrate:
    """`migrate`."""

    def test_makes_the_schema_and_keeps_what_is_there(self, unmigrated: Settings) -> None:
        assert done(unmigrated, "migrate") == []
        done(unmigrated, "account", "create", "Acme", "--prefix", "acme")

        assert done(unmigrated, "migrate") == []

        assert len(done(unmigrated, "instance", "list")) == 3
        assert done(unmigrated, "check") == ["everything agrees"]

    def test_may_run_several_times_at_once(self, unmigrated: Settings) -> None:
        processes = [_start(unmigrated, "migrate") for _ in range(3)]

        ended = [_ended(process) for process in processes]

        assert ended == [Ended(0, "", "")] * 3
        assert done(unmigrated, "check") == ["everything agrees"]

    def test_refuses_a_database_of_a_newer_version(self, fresh: Settings) -> None:
        execute(fresh, "UPDATE alembic_version SET version_num = '9999'")

        said = refused(fresh, "migrate")

        assert "9999" in said


class TestNewDatabase:
    """What commands do with a database that has no schema: create an embedded one, refuse one of a server."""

    @pytest.mark.parametrize("words", [("instance", "list"), ("check",), ("account", "create", "A", "--prefix", "a")])
    def test_is_created_if_it_is_embedded(self, unmigrated: Settings, words: tuple[str, ...]) -> None:
        ended = run(unmigrated, *words)

        if unmigrated.database_url is None:
            assert (ended.code, ended.err) == (0, "")
        else:
            assert (ended.code, ended.out) == (1, "")
            assert "stammdaten migrate" in ended.err

    def test_is_created_once_by_two_at_once(self, unmigrated: Settings) -> None:
        processes = [_start(unmigrated, "instance", "create", name) for name in ("one", "two")]

        ended = [_ended(process) for process in processes]

        embedded = unmigrated.database_url is None
        assert [each.code for each in ended] == [0 if embedded else 1] * 2
        assert [each.out for each in ended] == (["one\n", "two\n"] if embedded else ["", ""])


class TestServe:
    """`serve`: what it refuses to serve."""

    def test_creates_a_new_embedded_database_and_refuses_one_of_a_server(self, unmigrated: Settings) -> None:
        if unmigrated.database_url is None:
            unmigrated.home.mkdir(parents=True)
            with Served(unmigrated) as served:
                status = httpx.get(f"{served.url}/health/ready", timeout=PATIENCE).status_code
            assert (status, served.process.returncode) == (200, 0)
        else:
            said = command(unmigrated, "serve", expect=1)
            assert said == f"The database has no schema yet, this version needs {HEAD}: run 'stammdaten migrate'.\n"

    def test_refuses_a_database_of_another_version(self, fresh: Settings) -> None:
        execute(fresh, "UPDATE alembic_version SET version_num = '9999'")

        said = command(fresh, "serve", expect=1)

        assert "9999" in said
        assert "Traceback" not in said

    @pytest.mark.parametrize("words", [("check",), ("instance", "list"), ("instance", "create", "acme")], ids=" ".join)
    def test_refuses_it_like_every_command(self, fresh: Settings, words: tuple[str, ...]) -> None:
        execute(fresh, "UPDATE alembic_version SET version_num = '9999'")

        said = refused(fresh, *words)

        assert "9999" in said

    def test_points_nobody_to_migrate_from_a_newer_version(self, fresh: Settings) -> None:
        execute(fresh, "UPDATE alembic_version SET version_num = '9999'")

        said = refused(fresh, "instance", "list")

        assert "stammdaten migrate" not in said

    def test_ends_with_1_where_the_port_is_taken(self, served: Served) -> None:
        process = subprocess.run(
            [STAMMDATEN, "serve"],
            env=environment(served.settings, port=served.port),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

        assert process.returncode == 1
        assert "address already in use" in process.stderr
        assert "Traceback" not in process.stderr
        assert httpx.get(f"{served.url}/health/ready", timeout=PATIENCE).status_code == 200


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    """Make an embedded database with an account; for what the server has other tools for."""
    settings = Settings(home=tmp_path / "home")
    done(settings, "account", "create", "Acme", "--prefix", "acme")
    return settings


def _instances(settings: Settings) -> list[str]:
    return [line.split("\t")[0] for line in done(settings, "instance", "list")]


class TestBackup:
    """`backup FILE`."""

    def test_writes_one_file_that_restores_to_the_same(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"

        lines = done(embedded, "backup", str(file))

        other = Settings(home=tmp_path / "other")
        done(other, "restore", str(file))
        assert lines == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "kept.backup", "other"]
        assert done(other, "instance", "list") == done(embedded, "instance", "list")
        assert done(other, "check") == ["everything agrees"]

    def test_overwrites_nothing(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"
        file.write_text("precious")

        said = refused(embedded, "backup", str(file))

        assert said == f"{file} exists already; a backup overwrites nothing."
        assert file.read_text() == "precious"

    def test_needs_a_folder_to_write_into(self, embedded: Settings, tmp_path: Path) -> None:
        said = refused(embedded, "backup", str(tmp_path / "nowhere" / "kept.backup"))

        file = tmp_path / "nowhere" / "kept.backup"
        assert said == f"The backup could not be written: {file}: No such file or directory."

    def test_needs_a_folder_that_may_be_written_to(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "closed" / "kept.backup"
        file.parent.mkdir(mode=0o500)

        ended = unprivileged(embedded, "backup", str(file))

        assert ended == Ended(1, "", f"The backup could not be written: {file}: Permission denied.\n")

    def test_overwrites_nothing_when_several_write_at_once(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "out" / "kept.backup"
        file.parent.mkdir()

        def back_up(_: int) -> str:
            try:
                back_up_sqlite(embedded.home, file)
            except AlreadyExists as refusal:
                return str(refusal)
            return "written"

        with ThreadPoolExecutor(8) as threads:
            said = sorted(threads.map(back_up, range(8)))

        assert said == [*[f"{file} exists already; a backup overwrites nothing."] * 7, "written"]
        assert [path.name for path in file.parent.iterdir()] == ["kept.backup"]
        done(Settings(home=tmp_path / "other"), "restore", str(file))

    def test_needs_a_database(self, tmp_path: Path) -> None:
        home = tmp_path / "nothing"

        said = refused(Settings(home=home), "backup", str(tmp_path / "kept.backup"))

        assert said == f"There is no embedded database in {home}."
        assert not (tmp_path / "kept.backup").exists()

    def test_goes_on_where_an_earlier_one_was_cut_off(self, embedded: Settings, tmp_path: Path) -> None:
        (tmp_path / "kept.backup.unfinished").write_bytes(b"half a backup")

        done(embedded, "backup", str(tmp_path / "kept.backup"))

        done(Settings(home=tmp_path / "other"), "restore", str(tmp_path / "kept.backup"))
        assert _instances(Settings(home=tmp_path / "other")) == ["acme", "acme-test", "acme-training"]

    def test_holds_every_write_that_was_acknowledged_before_it_began(self, embedded: Settings, tmp_path: Path) -> None:
        acknowledged: list[str] = []
        copies: list[tuple[Path, list[str]]] = []
        stop = threading.Event()
        with Served(embedded) as served:
            client, list_id = served.account("busy")

            def write(writer: int) -> None:
                number = 0
                while not stop.is_set():
                    number += 1
                    product = {"article_number": f"{writer}-{number}", "designation": "Hex bolt"}
                    response = client.post("products", json={"list_id": list_id, "product": product})
                    assert response.status_code == 201, response.text
                    acknowledged.append(product["article_number"])

            writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
            for each in writers:
                each.start()
            for number in range(3):
                before = list(acknowledged)
                served.command("backup", str(tmp_path / f"{number}.backup"))
                copies.append((tmp_path / f"{number}.backup", before))
            stop.set()
            for each in writers:
                each.join()
            client.close()

        assert len(acknowledged) > len(copies[-1][1]) > len(copies[0][1])
        for file, before in copies:
            restored = Settings(home=tmp_path / f"restored-{file.stem}")
            done(restored, "restore", str(file))
            assert done(restored, "check") == ["everything agrees"]
            assert set(before) <= _article_numbers(restored)

    def test_tells_what_to_do_on_a_server(self, postgres: str, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"

        said = refused(Settings(home=tmp_path, database_url=postgres), "backup", str(file))

        assert "pg_dump" in said
        assert not file.exists()


def _article_numbers(settings: Settings) -> set[str]:
    with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as connection:
        return {row[0] for row in connection.execute("SELECT article_number FROM products")}


class TestRestore:
    """`restore FILE`."""

    def test_brings_back_what_was(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"
        done(embedded, "backup", str(file))
        done(embedded, "account", "create", "Later", "--prefix", "later")

        lines = done(embedded, "restore", str(file))

        assert lines == []
        assert _instances(embedded) == ["acme", "acme-test", "acme-training"]
        assert done(embedded, "check") == ["everything agrees"]

    def test_leaves_the_backup_as_it_is(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"
        done(embedded, "backup", str(file))
        before = file.read_bytes()

        done(embedded, "restore", str(file))

        done(embedded, "account", "create", "Later", "--prefix", "later")
        assert file.read_bytes() == before

    @pytest.mark.parametrize("name", ["a b%20c.backup", "what?.backup", "ümlaut#1.backup"])
    def test_takes_a_file_of_any_name(self, embedded: Settings, tmp_path: Path, name: str) -> None:
        done(embedded, "backup", str(tmp_path / name))
        done(embedded, "account", "create", "Later", "--prefix", "later")

        done(embedded, "restore", str(tmp_path / name))

        assert _instances(embedded) == ["acme", "acme-test", "acme-training"]

    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
    @pytest.mark.parametrize("server", ["serve", "sftp"])
    def test_is_refused_until_no_server_is_there(
        self, embedded: Settings, tmp_path: Path, server: str, how: signal.Signals
    ) -> None:
        words = ("restore", str(tmp_path / "kept.backup"))
        done(embedded, "backup", words[1])
        port = free_port()
        environ = environment(embedded, port=port, sftp_port=port)

        with subprocess.Popen([STAMMDATEN, server], env=environ, stderr=subprocess.DEVNULL) as process:
            is_there = happens(lambda: _answers(port), within=30)
            ended = run(embedded, *words)
            listed = run(embedded, "instance", "list")
            process.send_signal(how)

        said = f"The database in {embedded.home} is in use: stop what serves it, and wait for commands.\n"
        assert (is_there, ended) == (True, Ended(1, "", said))
        assert (listed.code, listed.out.count("\n")) == (0, 3)
        assert happens(lambda: run(embedded, *words) == Ended(0, "", ""), within=30)

    def test_keeps_commands_out_meanwhile(self, embedded: Settings) -> None:
        held = hold_alone(embedded.home)

        said = refused(embedded, "instance", "list")

        os.close(held)
        assert said == f"A backup is being put back into {embedded.home}; please try again."
        assert len(done(embedded, "instance", "list")) == 3

    @pytest.mark.parametrize("kind", ["empty", "text", "noise", "cut", "overwritten", "other database"])
    def test_refuses_garbage(self, embedded: Settings, tmp_path: Path, kind: str) -> None:
        file = tmp_path / "kept.backup"
        done(embedded, "backup", str(file))
        _spoil(file, kind)

        said = refused(embedded, "restore", str(file))

        assert str(file) in said
        assert _instances(embedded) == ["acme", "acme-test", "acme-training"]
        assert done(embedded, "check") == ["everything agrees"]

    def test_refuses_a_backup_of_a_newer_version(self, embedded: Settings, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"
        done(embedded, "backup", str(file))
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript("UPDATE alembic_version SET version_num = '9999'")

        said = refused(embedded, "restore", str(file))

        assert "9999" in said
        assert _instances(embedded) == ["acme", "acme-test", "acme-training"]

    def test_tells_what_to_do_on_a_server(self, postgres: str, tmp_path: Path) -> None:
        file = tmp_path / "kept.backup"
        file.write_text("anything")

        said = refused(Settings(home=tmp_path, database_url=postgres), "restore", str(file))

        assert "pg_restore" in said


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _spoil(file: Path, kind: str) -> None:
    whole = file.read_bytes()
    if kind == "other database":
        file.unlink()
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript("CREATE TABLE accounts (id INTEGER)")
        return
    middle = len(whole) // 2
    file.write_bytes(
        {
            "empty": b"",
            "text": b"This is no database.\n" * 1_000,
            "noise": bytes(range(256)) * 64,
            "cut": whole[:middle],
            # The heads of the pages stay out of it: what is spoilt is what they hold.
            "overwritten": whole[:4096] + b"\xff" * (len(whole) - 4096),
        }[kind]
    )


class TestProcess:
    """The commands in processes of their own, beside one that serves: pipes, and one life of a product."""

    def test_print_lines_for_other_programs(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "20")
        monkeypatch.setenv("TERM", "xterm-256color")
        assert served.command("account", "create", "Acme", "--prefix", "acme") == "acme\nacme-training\nacme-test\n"
        user = served.command("user", "create", "--prefix", "acme", "--name", "Ännä", "--role", "api-user")
        token = served.command("token", "create", "--prefix", "acme", "--user", "Ännä")
        made = served.command("list", "create", "--prefix", "acme", "Spare Parts")
        designation = "Sechskantschraube „M8“ 螺栓 " + "x" * 900
        product = {"article_number": "A 1/%ü", "designation": designation}
        client = served.client("acme", token.splitlines()[-1])
        client.post("products", json={"list_id": int(made), "product": product}).raise_for_status()

        served.command("product", "classify", "--prefix", "acme", "A 1/%ü", given=json.dumps(MANUAL))
        shown = served.command("product", "show", "--prefix", "acme", "A 1/%ü")
        actions = served.command("product", "history", "--prefix", "acme", "A 1/%ü")

        assert TOKEN.fullmatch(token.removesuffix("\n"))
        found = client.post("products/find", json={"article_number": "A 1/%ü"}).json()["product"]
        client.close()
        assert (shown.count("\n"), json.loads(shown)) == (1, found)
        assert (found["user_id"], found["list_id"]) == (int(user), int(made))
        assert [json.loads(line)["category"] for line in actions.splitlines()] == ["classified", "created"]
        assert "\x1b" not in user + token + made + shown + actions

    def test_say_what_is_wrong_on_standard_error(self, fresh: Settings) -> None:
        assert command(fresh, "instance", "create", "A", expect=1).startswith("prefix must be")
        assert command(fresh, "nonsense", expect=2).startswith("Usage: stammdaten")

    def test_find_nothing_by_bytes_that_are_no_text(self, fresh: Settings) -> None:
        done(fresh, "instance", "create", "acme")

        process = subprocess.run(
            [STAMMDATEN.encode(), b"product", b"show", b"--prefix", b"acme", b"\xff"],
            env=environment(fresh),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

        assert (process.returncode, process.stdout) == (1, b"")
        assert b"Traceback" not in process.stderr
