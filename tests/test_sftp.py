"""The SFTP server: who may come in, what they see, and what becomes of what they send."""

import asyncio
import contextlib
import csv
import os
import re
import resource
import signal
import stat
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import asyncssh
import pytest
from asyncssh.constants import FXF_APPEND, FXF_CREAT, FXF_WRITE
from asyncssh.packet import Byte, String, UInt32, UInt64

from stammdaten.auth.logins import create_login, new_password, password_hash, remove_login
from stammdaten.auth.operations import disable_user, set_roles
from stammdaten.exchange.daily import EXPORT_DAILY
from stammdaten.exchange.orders import IMPORT, imports_folder
from stammdaten.exchange.sftp.connecting import listening
from stammdaten.exchange.sftp.folders import (
    Place,
    failed,
    incoming,
    make_space,
    move_into_import,
    opened,
    outgoing,
    place_of,
    put_away_with_report,
    space,
)
from stammdaten.exchange.sftp.keys import host_key, public_key
from stammdaten.exchange.sftp.receiving import Receiving
from stammdaten.exchange.working import exchange_worker
from stammdaten.history.queries import actions_on
from stammdaten.jobs.queue import newest_jobs
from stammdaten.refusals import Invalid
from stammdaten.settings import Settings
from stammdaten.store import Store
from tests.cast import Member, Service, found_product
from tests.processes import PATIENCE, STAMMDATEN, command, environment, wait_until
from tests.test_commands import done, refused

T = TypeVar("T")
SLUG = "spare-parts"
SAMPLE = b"article_number;description1\nA-1;Bolt\n"
LIMIT = 1 << 20


class Erp(NamedTuple):
    """An ERP system: a login of a member, and the instance's space."""

    member: Member
    login: str
    password: str

    @property
    def root(self) -> Path:
        """The folder that it sees as the root."""
        return space(self.member.service.settings.home, self.member.prefix)

    def names(self, *folder: str) -> list[str]:
        """Return the names of files in a folder."""
        return sorted(path.name for path in self.root.joinpath(*folder).iterdir() if not path.is_dir())

    def report(self, *path: str) -> list[dict[str, str]]:
        """Read a report."""
        with self.root.joinpath(*path).open(newline="") as file:
            return list(csv.DictReader(file, delimiter=";"))


def erp_of(member: Member, name: str = "erp", *, user: str | None = None, key: str = "") -> Erp:
    """Make a login for a member, and the space."""
    password = new_password()
    login = f"{member.prefix}-{name}"
    proof = key or password_hash(password)
    member.service.write(
        member.instance_id,
        lambda write: create_login(write, name=login, user_name=user or member.name, proof=proof),
    )
    make_space(member.service.settings.home, member.prefix)
    return Erp(member, login, password)


@pytest.fixture(scope="module", autouse=True)
def _daily_exports_are_over(service: Service) -> None:
    """The app's own, which would come into the folders of these tests."""

    async def states(store: Store) -> set[str]:
        async with store.reading_shared() as read:
            return {row[3] for row in await newest_jobs(read, most=1_000) if row[1] == EXPORT_DAILY}

    wait_until(lambda: service.run(states) == {"done"})


@pytest.fixture
def erp(anna: Member) -> Erp:
    """Anna's ERP system."""
    return erp_of(anna)


@contextlib.asynccontextmanager
async def server(store: Store, settings: Settings, *, limit: int = LIMIT) -> AsyncIterator[tuple[int, Receiving]]:
    """Run a server on a free port, without its scan."""
    receiving = Receiving(store, home=settings.home, limit=limit, ordered=lambda: None)
    async with listening(store, replace(settings, sftp_port=0), receiving) as port:
        yield port, receiving


def connecting(port: int, login: str, password: str | None, **given: Any) -> Any:
    """Connect as a client that knows nothing but this."""
    options = {"known_hosts": None, "config": None, "client_keys": None, "agent_path": None, **given}
    return asyncssh.connect("127.0.0.1", port, username=login, password=password, **options)


@contextlib.asynccontextmanager
async def session(
    store: Store, erp: Erp, *, limit: int = LIMIT
) -> AsyncIterator[tuple[asyncssh.SFTPClient, Receiving]]:
    """Run a server, and log in."""
    async with (
        server(store, erp.member.service.settings, limit=limit) as (port, receiving),
        connecting(port, erp.login, erp.password) as connection,
        connection.start_sftp_client() as client,
    ):
        yield client, receiving


def visit(erp: Erp, work: Callable[[asyncssh.SFTPClient], Awaitable[T]], *, limit: int = LIMIT) -> T:
    """Log in and do something."""

    async def run(store: Store) -> T:
        async with session(store, erp, limit=limit) as (client, _):
            return await work(client)

    return erp.member.service.run(run)


def can_log_in(erp: Erp, **given: Any) -> bool:
    """Try to log in."""

    async def run(store: Store) -> bool:
        async with server(store, erp.member.service.settings) as (port, _):
            try:
                async with connecting(port, erp.login, given.pop("password", erp.password), **given):
                    return True
            except asyncssh.PermissionDenied:
                return False

    return erp.member.service.run(run)


async def put(client: asyncssh.SFTPClient, path: str, data: bytes = SAMPLE) -> None:
    """Send a file as most clients do."""
    async with client.open(path, "wb") as file:
        await file.write(data)


def work_off(member: Member) -> None:
    """Do the imports that were ordered."""
    home = member.service.settings.home

    async def are_over(store: Store) -> bool:
        async with store.reading_shared() as read:
            jobs = [row for row in await newest_jobs(read, most=100) if row[1] == IMPORT]
        return all(row[3] == "done" for row in jobs if row[2].startswith(f"{member.instance_id}:"))

    async def work(store: Store) -> None:
        worker = exchange_worker(store, home)
        async with asyncio.timeout(PATIENCE):
            # The app's own may be the one that takes them.
            while not await are_over(store):
                if not await worker.work_once():
                    await asyncio.sleep(0.05)

    member.service.run(work)


def held_open(root: Path) -> list[Path]:
    """Return what this process holds open at a place or below."""
    held = []
    for handle in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            held.append(handle.readlink())
    return [path for path in held if path.is_relative_to(root)]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that a process does in its own time."""
    await asyncio.to_thread(wait_until, condition)


class TestPlaces:
    """Where paths lead."""

    @pytest.mark.parametrize(
        ("path", "folder", "name"),
        [
            (b"", (), ""),
            (b".", (), ""),
            (b"/", (), ""),
            (b"//import//", ("import",), ""),
            (b"import/x.csv", ("import",), "x.csv"),
            (b"/import/./done/../x.csv", ("import",), "x.csv"),
            (b"/import/done/../../..", (), ""),
            (b"../../import/done", ("import", "done"), ""),
            (b"/../../../export/x.csv", ("export",), "x.csv"),
            ("/import/größe.csv".encode(), ("import",), "größe.csv"),
            (b"/import/" + b"x" * 200, ("import",), "x" * 200),
        ],
    )
    def test_are_folders_of_the_space_and_files_in_them(self, path: bytes, folder: tuple[str, ...], name: str) -> None:
        assert place_of(path) == Place(folder, name)

    @pytest.mark.parametrize(
        "path",
        [
            b"/etc/passwd",
            b"/x.csv",
            b"/import/other/x.csv",
            b"/export/done/x.csv",
            b"/import/x\0.csv",
            b"/import/x\n.csv",
            b"/import/\xff.csv",
            b"/import/" + b"x" * 201,
            b"/import/" + b"./" * 3000 + b"x.csv",
            "/import/x\u0085.csv".encode(),
        ],
    )
    def test_are_nothing_else(self, path: bytes) -> None:
        assert place_of(path) is None


class TestPutAwayWithReport:
    """Putting a file away beside others."""

    def settled(self, folder: Path, text: str) -> None:
        """Put `f.csv` away, with a report."""
        (folder.parent / "given").write_text(text)
        (folder.parent / "report").write_text(f"report on {text}")
        report = folder.parent / "report"
        put_away_with_report(folder, file=folder.parent / "given", file_name="f.csv", number=7, report=report)

    def test_writes_over_nothing(self, tmp_path: Path) -> None:
        folder = tmp_path / "done"
        folder.mkdir()
        (folder / "f.csv").symlink_to(tmp_path / "elsewhere")
        (folder / "f.7.csv.report.csv").write_text("kept")

        for text in ("first", "second"):
            self.settled(folder, text)

        assert {path.name: path.read_text() for path in folder.iterdir() if not path.is_symlink()} == {
            "f.7.csv.report.csv": "kept",
            "f.7.2.csv": "first",
            "f.7.2.csv.report.csv": "report on first",
            "f.7.3.csv": "second",
            "f.7.3.csv.report.csv": "report on second",
        }
        assert not (tmp_path / "elsewhere").exists()

    def test_goes_into_no_folder_that_is_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "done").symlink_to(tmp_path / "other")

        with pytest.raises(NotADirectoryError):
            self.settled(tmp_path / "done", "text")

        assert list((tmp_path / "other").iterdir()) == []


class TestMoveIntoImport:
    """Moving a file to where it is imported."""

    def put(self, folder: Path, name: str, text: str) -> str:
        """Move a file there, and return its name."""
        source = folder.parent / "given"
        source.write_text(text)
        with opened(folder, ()) as handle:
            return move_into_import(source, handle, name=name)

    @pytest.mark.parametrize(
        ("name", "names"),
        [
            ("x.csv", ["x.csv", "x.1.csv", "x.2.csv"]),
            ("x.2026.XLSX", ["x.2026.XLSX", "x.2026.1.XLSX", "x.2026.2.XLSX"]),
            ("x..csv", ["x..csv", "x..1.csv", "x..2.csv"]),
        ],
    )
    def test_writes_over_none_that_waits(self, tmp_path: Path, name: str, names: list[str]) -> None:
        folder = tmp_path / "import"
        folder.mkdir()

        got = [self.put(folder, name, text) for text in "abc"]

        assert got == names
        assert [(folder / name).read_text() for name in names] == ["a", "b", "c"]
        assert [path.name for path in tmp_path.iterdir()] == ["import"]

    def test_is_refused_where_no_name_is_left(self, tmp_path: Path) -> None:
        folder, name = tmp_path / "import", "x" * 196 + ".csv"
        folder.mkdir()
        self.put(folder, name, "first")

        with pytest.raises(FileExistsError):
            self.put(folder, name, "second")

        assert (folder / name).read_text() == "first"
        assert (tmp_path / "given").read_text() == "second"

    def test_writes_over_what_is_not_imported(self, tmp_path: Path) -> None:
        folder = tmp_path / "import"
        folder.mkdir()

        got = [self.put(folder, "x.csv.part", text) for text in "ab"]

        assert got == ["x.csv.part"] * 2
        assert (folder / "x.csv.part").read_text() == "b"


class TestLogin:
    """Who may come in."""

    def test_needs_the_password(self, erp: Erp) -> None:
        good = can_log_in(erp)
        bad = [can_log_in(erp, password=password) for password in ("", "x" * 43, erp.password + "x")]

        assert (good, bad) == (True, [False] * 3)

    def test_may_be_by_key(self, anna: Member) -> None:
        own, other = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
        erp = erp_of(anna, key=public_key(own.export_public_key().decode()))

        good = can_log_in(erp, client_keys=[own], password=None)
        bad = [can_log_in(erp, client_keys=[other], password=None), can_log_in(erp), can_log_in(erp, password="")]

        assert (good, bad) == (True, [False] * 3)

    @pytest.mark.parametrize("login", ["nobody", "root", "x" * 500, "a b", "größe", ""])
    def test_is_refused_to_names_that_are_none(self, erp: Erp, login: str) -> None:
        assert not can_log_in(erp._replace(login=login))

    @pytest.mark.parametrize(
        ("roles", "may"),
        [
            (["client-admin"], True),
            (["api-user", "auditor"], True),
            ([], False),
            (["clerk", "extended-clerk", "article-processor"], False),
            (["auditor", "auditor-internal"], False),
        ],
    )
    def test_needs_a_role_that_may_import(self, erp: Erp, roles: list[str], may: bool) -> None:  # noqa: FBT001
        erp.member.service.write(erp.member.instance_id, lambda write: set_roles(write, name="anna", roles=roles))

        assert can_log_in(erp) is may

    def test_is_refused_to_disabled_users(self, erp: Erp) -> None:
        erp.member.service.write(erp.member.instance_id, lambda write: disable_user(write, name="anna", disabled=True))

        assert not can_log_in(erp)

    def test_ends_with_too_many_attempts(self, erp: Erp) -> None:
        tried: list[str] = []

        class Guessing(asyncssh.SSHClient):
            def password_auth_requested(self) -> str:
                tried.append("guess")
                return "guess"

        async def run(store: Store) -> None:
            async with server(store, erp.member.service.settings) as (port, _):
                with pytest.raises(asyncssh.DisconnectError):
                    await connecting(port, erp.login, None, client_factory=Guessing, preferred_auth="password")

        erp.member.service.run(run)

        assert len(tried) == 6

    def test_leaves_room_for_others(self, erp: Erp) -> None:
        """Who does not log in gets 20 connections in all, for half a minute."""

        async def run(store: Store) -> list[bytes]:
            async with server(store, erp.member.service.settings) as (port, _):
                strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
                greeted = [await reader.readline() for reader, _ in strangers]
                one_more, writer = await asyncio.open_connection("127.0.0.1", port)
                refused = await one_more.read()
                for _, each in [*strangers, (one_more, writer)]:
                    each.close()
                return [*set(greeted), refused]

        assert erp.member.service.run(run) == [b"SSH-2.0-stammdaten\r\n", b""]

    def test_that_is_removed_ends_open_connections(self, erp: Erp) -> None:
        async def run(store: Store) -> None:
            async with (
                server(store, erp.member.service.settings) as (port, _),
                connecting(port, erp.login, erp.password) as connection,
            ):
                at = erp.member.instance_id
                await store.writing(at, lambda write: remove_login(write, name=erp.login))
                async with asyncio.timeout(PATIENCE):
                    await connection.wait_closed()

        erp.member.service.run(run)

        assert not can_log_in(erp)

    def test_gives_nothing_but_sftp(self, erp: Erp) -> None:
        async def run(store: Store) -> list[str]:
            refused = []
            async with (
                server(store, erp.member.service.settings) as (port, _),
                connecting(port, erp.login, erp.password) as connection,
            ):
                for given in ({}, {"command": "id"}, {"command": "scp -t /import"}, {"subsystem": "other"}):
                    try:
                        await connection.create_process(**given)
                    except asyncssh.ChannelOpenError as error:
                        refused.append(error.reason)
                with pytest.raises(asyncssh.ChannelOpenError):
                    await connection.open_connection("127.0.0.1", port)
                with pytest.raises(asyncssh.ChannelListenError):
                    await connection.forward_remote_port("127.0.0.1", 0, "127.0.0.1", port)
            return refused

        assert len(erp.member.service.run(run)) == 4


class TestHostKey:
    """The server's key."""

    def test_is_made_once(self, tmp_path: Path) -> None:
        first = host_key(tmp_path)
        again = host_key(tmp_path)

        assert first.get_algorithm() == "ssh-ed25519"
        assert first.get_fingerprint() == again.get_fingerprint()
        assert stat.S_IMODE((tmp_path / "sftp_host_key").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["sftp_host_key"]


class TestPublicKey:
    """Keys that users give."""

    def test_is_kept_without_comment(self) -> None:
        text = asyncssh.generate_private_key("ssh-ed25519", comment="me@here").export_public_key().decode()

        assert public_key(text) == text.rsplit(" ", 1)[0]

    def test_may_have_any_public_form(self) -> None:
        key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")

        read = {public_key(key.export_public_key(form).decode()) for form in ("openssh", "rfc4716", "pkcs8-pem")}

        assert len(read) == 1

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "one public key"),
            ("nonsense", "OpenSSH's form"),
            ("ssh-ed25519 AAAA", "OpenSSH's form"),
            ("ssh-ed25519 größe", "OpenSSH's form"),
            (asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode(), "private one"),
            (asyncssh.generate_private_key("ssh-rsa", key_size=1024).export_public_key().decode(), "2048 bits"),
            (asyncssh.generate_private_key("ssh-dss").export_public_key().decode(), "Ed25519"),
            (2 * asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode(), "one public key"),
        ],
    )
    def test_is_refused_otherwise(self, text: str, said: str) -> None:
        with pytest.raises(Invalid, match=said) as refused:
            public_key(text)

        assert not text or text not in str(refused.value)


class TestSpace:
    """What a client sees, and may do."""

    def test_is_two_folders(self, erp: Erp) -> None:
        (outgoing(erp.root) / "stammdaten___x.csv").write_text("x")
        (erp.root / "secret").write_text("x")

        async def look(client: asyncssh.SFTPClient) -> dict[str, list[str]]:
            folders = ("/", "/import", "/import/done", "/import/failed", "/export")
            return {folder: sorted(set(map(str, await client.listdir(folder))) - {".", ".."}) for folder in folders}

        assert visit(erp, look) == {
            "/": ["export", "import"],
            "/import": ["done", "failed"],
            "/import/done": [],
            "/import/failed": [],
            "/export": ["stammdaten___x.csv"],
        }

    def test_is_read_and_tidied(self, erp: Erp) -> None:
        (outgoing(erp.root) / "x.csv").write_bytes(b"x" * 600_000)

        async def read(client: asyncssh.SFTPClient) -> tuple[bytes, int | None, str]:
            async with client.open("/export/x.csv", "rb", encoding=None) as file:
                data: bytes = await file.read()
            size = (await client.stat("export/x.csv")).size
            await client.remove("/export/x.csv")
            return data, size, str(await client.realpath("import/.."))

        assert visit(erp, read) == (b"x" * 600_000, 600_000, "/")
        assert erp.names("export") == []

    @pytest.mark.parametrize(
        "path",
        ["/x.csv", "/export/x.csv", "/import/done/x.csv", "/import/failed/x.csv", "/import/../../x.csv", "/import/n/x"],
    )
    def test_takes_files_in_import_only(self, erp: Erp, path: str) -> None:
        with pytest.raises((asyncssh.SFTPPermissionDenied, asyncssh.SFTPNoSuchFile)):
            visit(erp, lambda client: put(client, path))

        assert not list((erp.member.service.settings.home / "sftp-uploads" / erp.member.prefix).glob("*"))

    @pytest.mark.parametrize(
        "deed",
        [
            lambda client: client.mkdir("/import/new"),
            lambda client: client.rmdir("/import/done"),
            lambda client: client.remove("/import/done"),
            lambda client: client.remove("/import/other.txt/../../../secret"),
            lambda client: client.rename("/import/kept.txt", "/export/kept.txt"),
            lambda client: client.rename("/import/kept.txt", "/import/done"),
            lambda client: client.rename("/import/done", "/import/kept"),
            lambda client: client.posix_rename("/import/kept.txt", "/secret"),
            lambda client: client.symlink("/etc/passwd", "/import/link"),
            lambda client: client.link("/import/kept.txt", "/import/link"),
            lambda client: client.readlink("/import/kept.txt"),
            lambda client: client.truncate("/import/kept.txt", 0),
            lambda client: client.statvfs("/"),
            lambda client: client.open("/import/kept.txt", FXF_WRITE | FXF_APPEND),
            lambda client: client.open("/import/kept.txt", FXF_WRITE | FXF_CREAT),
            lambda client: client.open("/import/missing.txt", FXF_WRITE),
            lambda client: client.open("/import", "rb"),
            lambda client: client.stat("/etc/passwd"),
            lambda client: client.stat(b"/import/\xff"),
        ],
    )
    def test_changes_in_no_other_way(self, erp: Erp, deed: Callable[[asyncssh.SFTPClient], Awaitable[object]]) -> None:
        (erp.root / "secret").write_text("x")
        (incoming(erp.root) / "kept.txt").write_text("x")

        with pytest.raises(asyncssh.SFTPError):
            visit(erp, deed)

        assert (erp.root / "secret").read_text() == "x"
        assert erp.names("import") == ["kept.txt"]
        assert erp.names("export") == []
        assert (incoming(erp.root) / "kept.txt").read_text() == "x"

    def test_bears_what_clients_do_after_sending(self, erp: Erp, tmp_path: Path) -> None:
        (tmp_path / f"{SLUG}.csv").write_bytes(SAMPLE)

        async def send(client: asyncssh.SFTPClient) -> int | None:
            await client.put(tmp_path / f"{SLUG}.csv", "/import", preserve=True)
            await client.chmod(f"/import/{SLUG}.csv", 0o600)
            await client.utime(f"/import/{SLUG}.csv", (1, 1))
            return (await client.stat(f"/import/{SLUG}.csv")).size

        assert visit(erp, send) == len(SAMPLE)
        assert erp.names("import") == []

    def test_follows_no_links(self, erp: Erp, tmp_path: Path) -> None:
        secret = tmp_path / "secret.csv"
        secret.write_bytes(SAMPLE)
        (incoming(erp.root) / f"{SLUG}.csv").symlink_to(secret)
        (outgoing(erp.root) / "secret.csv").symlink_to(secret)
        os.mkfifo(outgoing(erp.root) / "pipe")
        failed(erp.root).rmdir()
        failed(erp.root).symlink_to(tmp_path)

        async def look(client: asyncssh.SFTPClient) -> tuple[list[str], int]:
            refused = 0
            for path in ("/export/secret.csv", "/export/pipe", f"/import/{SLUG}.csv", "/import/failed/secret.csv"):
                for deed in (client.stat, client.remove, lambda path: client.open(path, "rb")):
                    try:
                        await deed(path)
                    except asyncssh.SFTPError:
                        refused += 1
            return sorted(map(str, await client.listdir("/export"))), refused

        async def scan(store: Store) -> None:
            await Receiving(store, home=erp.member.service.settings.home, limit=1, ordered=lambda: None).scan()

        names, refused = visit(erp, look)
        erp.member.service.run(scan)

        assert (names, refused) == ([".", ".."], 12)
        assert secret.read_bytes() == SAMPLE
        assert (incoming(erp.root) / f"{SLUG}.csv").is_symlink()

    def test_is_of_one_instance(self, erp: Erp, bruno: Member) -> None:
        other = erp_of(bruno)
        (incoming(erp.root) / "kept.txt").write_text("x")

        async def look(client: asyncssh.SFTPClient) -> list[str]:
            await put(client, "/import/own.txt")
            return sorted(map(str, await client.listdir("/import")))

        assert visit(other, look) == [".", "..", "done", "failed", "own.txt"]
        assert erp.names("import") == ["kept.txt"]

    def test_holds_16_handles_open(self, erp: Erp) -> None:
        (outgoing(erp.root) / "x.csv").write_text("x")

        async def open_many(client: asyncssh.SFTPClient) -> int:
            files = [await client.open("/export/x.csv", "rb") for _ in range(16)]
            with pytest.raises(asyncssh.SFTPFailure, match="At most 16"):
                await client.open("/export/x.csv", "rb")
            with pytest.raises(asyncssh.SFTPFailure, match="At most 16"):
                await client.listdir("/")
            for file in files:
                await file.close()
            return len(await client.listdir("/"))

        assert visit(erp, open_many) == 4

    def test_holds_no_folder_open_while_it_is_listed(self, erp: Erp) -> None:
        for number in range(300):
            (outgoing(erp.root) / f"{number}.csv").touch()

        async def begin_many(client: asyncssh.SFTPClient) -> list[Path]:
            listings = [client.scandir("/export") for _ in range(10)]
            for listing in listings:
                await anext(listing)
            return held_open(erp.root)

        assert visit(erp, begin_many) == []


class TestProtocol:
    """What no client sends by itself; an upload is open meanwhile."""

    OPEN = Byte(3) + UInt32(1) + String(f"/import/{SLUG}.csv") + UInt32(FXF_WRITE | FXF_CREAT) + UInt32(0)
    WRITE = Byte(6) + UInt32(2) + String(bytes(4)) + UInt64(0) + String(SAMPLE)

    def answers(self, erp: Erp, *packets: bytes) -> bytes:
        """Send packets as they are, each behind its length, in a session whose upload is handle 0."""

        async def run(store: Store) -> bytes:
            async with (
                server(store, erp.member.service.settings) as (port, _),
                connecting(port, erp.login, erp.password) as connection,
            ):
                writer, reader, _ = await connection.open_session(subsystem="sftp", encoding=None)
                for packet in (Byte(1) + UInt32(3), self.OPEN, self.WRITE, *packets):
                    writer.write(UInt32(len(packet)) + packet)
                writer.write_eof()
                answers: bytes = await reader.read()
                return answers

        return erp.member.service.run(run)

    @pytest.mark.parametrize(
        "packet",
        [b"", b"\x03", Byte(3) + UInt32(9) + UInt32(2**31) + b"x", b"\xff" * 9, Byte(4), bytes(300_000)],
    )
    def test_cuts_off_who_sends_nonsense(self, erp: Erp, packet: bytes) -> None:
        self.answers(erp, packet)

        assert (failed(erp.root) / f"{SLUG}.csv.1.part").read_bytes() == SAMPLE
        assert erp.names("import") == []

    @pytest.mark.parametrize(
        ("request_name", "given"),
        [
            ("copy-data", String(bytes(4)) + UInt64(0) + UInt64(0) + String(bytes(4)) + UInt64(0)),
            ("ranges@asyncssh.com", String(bytes(4)) + UInt64(0) + UInt64(2**63)),
            ("statvfs@openssh.com", String("/")),
            ("hardlink@openssh.com", String("/import/x") + String("/import/y")),
            ("lsetstat@openssh.com", String("/import/x") + UInt32(0)),
        ],
    )
    def test_offers_no_more_than_it_says(self, erp: Erp, request_name: str, given: bytes) -> None:
        answers = self.answers(erp, Byte(200) + UInt32(7) + String(request_name) + given)

        assert b"Unsupported request" in answers
        assert request_name.encode() not in answers

    @pytest.mark.parametrize(
        "packet",
        [
            Byte(5) + UInt32(7) + String(bytes(4)) + UInt64(2**64 - 1) + UInt32(2**32 - 1),
            Byte(4) + UInt32(7) + String(b"\0\0\0\x09"),
            Byte(10) + UInt32(7) + String(bytes(4)) + UInt32(1) + UInt64(2**64 - 1),
            Byte(22) + UInt32(7) + String(bytes(4)) + UInt64(0) + UInt64(1) + UInt32(0),
            Byte(19) + UInt32(7) + String("/import/done"),
        ],
    )
    def test_answers_the_rest_with_an_error_of_its_own(self, erp: Erp, packet: bytes) -> None:
        answers = self.answers(erp, packet)

        assert Byte(101) + UInt32(7) in answers
        assert b"Uncaught" not in answers

    def test_is_closed_properly_by_a_close(self, erp: Erp) -> None:
        self.answers(erp, Byte(4) + UInt32(7) + String(bytes(4)))
        work_off(erp.member)

        assert erp.names("import", "done") == [f"{SLUG}.csv", f"{SLUG}.csv.report.csv"]
        assert erp.names("import", "failed") == erp.names("import") == []


class TestUpload:
    """A file that is sent."""

    def test_is_imported(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            await put(client, f"/import/{SLUG}.csv")
            await put(client, f"/import/{SLUG}.bad.CSV", b"article_number;description1\nA-2;\n")

        visit(erp, send)
        work_off(erp.member)

        assert erp.names("import") == []
        assert erp.names("import", "done") == [f"{SLUG}.csv", f"{SLUG}.csv.report.csv"]
        assert erp.names("import", "failed") == [f"{SLUG}.bad.CSV", f"{SLUG}.bad.CSV.report.csv"]
        assert erp.report("import", "done", f"{SLUG}.csv.report.csv") == []
        assert [line["column"] for line in erp.report("import", "failed", f"{SLUG}.bad.CSV.report.csv")] == [
            "description1"
        ]
        assert found_product(erp.member, "A-1")["data"][0]["designation"] == "Bolt"

    def test_is_its_users_own_in_histories(self, erp: Erp) -> None:
        erp.member.service.colleague(erp.member, "erp-system", roles=["client-admin"])
        other = erp_of(erp.member, "other", user="erp-system")

        visit(other, lambda client: put(client, f"/import/{SLUG}.csv"))
        work_off(erp.member)

        product_id = found_product(erp.member, "A-1")["id"]
        actions = erp.member.service.write(erp.member.instance_id, lambda read: actions_on(read, product_id))
        assert {action[3] for action in actions} == {"erp-system"}

    def test_is_imported_when_it_gets_its_name(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> list[str]:
            await put(client, f"/import/{SLUG}.csv.part")
            await put(client, "/import/.hidden.csv")
            lying = erp.names("import")
            await client.rename(f"/import/{SLUG}.csv.part", f"/import/{SLUG}.2026.csv")
            return lying

        lying = visit(erp, send)
        work_off(erp.member)

        assert lying == [".hidden.csv", f"{SLUG}.csv.part"]
        assert erp.names("import") == [".hidden.csv"]
        assert erp.names("import", "done") == [f"{SLUG}.2026.csv", f"{SLUG}.2026.csv.report.csv"]

    def test_is_done_in_order_and_replaces_no_other(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            for designation in (b"Bolt", b"Nut", b"Pin"):
                await put(client, f"/import/{SLUG}.csv", b"article_number;description1\nA-1;%s\n" % designation)

        visit(erp, send)
        work_off(erp.member)
        names = [name for name in erp.names("import", "done") if not name.endswith("report.csv")]

        assert len(names) == 3
        assert found_product(erp.member, "A-1")["data"][0]["designation"] == "Pin"

    def test_is_imported_beside_another_of_its_name(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            await asyncio.gather(*(put(client, f"/import/{SLUG}.csv") for _ in range(5)))

        visit(erp, send)
        work_off(erp.member)

        assert len(erp.names("import", "done")) == 10

    def test_that_waits_is_kept_and_done_in_order(self, erp: Erp) -> None:
        imports = imports_folder(erp.member.service.settings.home, erp.member.instance_id)

        async def run(store: Store) -> list[str]:
            async with session(store, erp) as (client, receiving):
                imports.parent.mkdir(exist_ok=True)
                imports.touch()
                for designation in (b"Bolt", b"Nut", b"Pin"):
                    await put(client, f"/import/{SLUG}.csv", b"article_number;description1\nA-1;%s\n" % designation)
                await put(client, f"/import/{SLUG}.part", SAMPLE.replace(b"Bolt", b"Rod"))
                await client.posix_rename(f"/import/{SLUG}.part", f"/import/{SLUG}.csv")
                waiting = erp.names("import")
                await receiving.scan()
                imports.unlink()
                await put(client, f"/import/{SLUG}.last.csv", SAMPLE.replace(b"Bolt", b"Cog"))
                await receiving.scan()
                return waiting

        waiting = erp.member.service.run(run)
        work_off(erp.member)

        names = [f"{SLUG}.{number}csv" for number in ("", "1.", "2.", "3.")]
        assert waiting == sorted(names)
        assert held_open(erp.member.service.settings.home / "sftp-uploads" / erp.member.prefix) == []
        assert erp.names("import") == erp.names("import", "failed") == []
        assert [name for name in erp.names("import", "done") if "report" not in name] == sorted(
            [*names, f"{SLUG}.last.csv"]
        )
        assert found_product(erp.member, "A-1")["data"][0]["designation"] == "Cog"

    def test_that_waits_may_be_removed(self, erp: Erp) -> None:
        imports = imports_folder(erp.member.service.settings.home, erp.member.instance_id)

        async def run(store: Store) -> None:
            async with session(store, erp) as (client, receiving):
                imports.parent.mkdir(exist_ok=True)
                imports.touch()
                await put(client, f"/import/{SLUG}.csv")
                await client.remove(f"/import/{SLUG}.csv")
                imports.unlink()
                await receiving.scan()
                await put(client, f"/import/{SLUG}.next.csv")

        erp.member.service.run(run)
        work_off(erp.member)

        assert erp.names("import") == []
        assert erp.names("import", "done") == [f"{SLUG}.next.csv", f"{SLUG}.next.csv.report.csv"]

    def test_that_cannot_be_put_there_is_put_away(self, erp: Erp) -> None:
        name = "x" * 196 + ".csv"
        (incoming(erp.root) / name).write_text("kept")

        with pytest.raises(asyncssh.SFTPError):
            visit(erp, lambda client: put(client, f"/import/{name}"))

        assert (incoming(erp.root) / name).read_text() == "kept"
        assert (failed(erp.root) / f"{name}.1.part").read_bytes() == SAMPLE

    def test_is_not_seen_before_it_is_complete(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> tuple[list[str], list[str]]:
            async with client.open("/import/x.txt", "wb") as file:
                await file.write(b"x")
                before = erp.names("import")
            return before, erp.names("import")

        assert visit(erp, send) == ([], ["x.txt"])

    @pytest.mark.parametrize("name", ["no-such-list.csv", "Spare-Parts.csv", f"{SLUG}csv.csv", "=1+1.csv", "ä.csv"])
    def test_of_another_name_is_refused_with_a_report(self, erp: Erp, name: str) -> None:
        visit(erp, lambda client: put(client, f"/import/{name}"))

        (line,) = erp.report("import", "failed", f"{name}.report.csv")
        assert erp.names("import", "failed") == [name, f"{name}.report.csv"]
        assert line["what"] == "There is no product list of this slug."
        assert line["allowed"].endswith(f"slugs: {SLUG}")

    def test_of_a_user_who_may_no_longer_is_refused(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            async with client.open(f"/import/{SLUG}.csv", "wb") as file:
                await file.write(SAMPLE)
                store, at = erp.member.service.store, erp.member.instance_id
                await store.writing(at, lambda write: set_roles(write, name="anna", roles=["auditor"]))

        visit(erp, send)

        (line,) = erp.report("import", "failed", f"{SLUG}.csv.report.csv")
        assert line["what"] == "nobody may import this file"

    def test_over_the_limit_is_put_away(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            await put(client, f"/import/{SLUG}.csv", b"x" * 2000)

        with pytest.raises(asyncssh.SFTPFailure, match="over the limit of 1000 bytes"):
            visit(erp, send, limit=1000)

        (line,) = erp.report("import", "failed", f"{SLUG}.csv.1.part.report.csv")
        assert "limit of 1000 bytes" in line["what"]
        assert erp.names("import") == []

    @pytest.mark.parametrize("offset", [LIMIT, 2**60, 2**63, 2**64 - 1])
    def test_cannot_begin_far_behind(self, erp: Erp, offset: int) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            async with client.open(f"/import/{SLUG}.csv", "wb") as file:
                await file.write(b"x", offset)

        with pytest.raises(asyncssh.SFTPFailure, match="over the limit"):
            visit(erp, send)

        assert (failed(erp.root) / f"{SLUG}.csv.1.part").stat().st_size == 0

    def test_with_holes_is_put_away(self, erp: Erp) -> None:
        async def send(client: asyncssh.SFTPClient) -> None:
            async with client.open(f"/import/{SLUG}.csv", "wb") as file:
                await file.write(b"x", 1000)

        with pytest.raises(asyncssh.SFTPFailure, match="has a hole behind byte 0"):
            visit(erp, send)

        assert f"{SLUG}.csv.1.part" in erp.names("import", "failed")

    @pytest.mark.parametrize("way", ["abort", "channel"])
    def test_that_is_cut_off_is_put_away(self, erp: Erp, way: str) -> None:
        service = erp.member.service

        async def run(store: Store) -> None:
            async with (
                server(store, service.settings) as (port, _),
                connecting(port, erp.login, erp.password) as connection,
            ):
                client = await connection.start_sftp_client()
                file = await client.open(f"/import/{SLUG}.csv", "wb")
                await file.write(SAMPLE)
                if way == "abort":
                    connection.abort()
                else:
                    client.exit()
                await until(lambda: len(erp.names("import", "failed")) == 2)

        service.run(run)
        work_off(erp.member)

        (line,) = erp.report("import", "failed", f"{SLUG}.csv.1.part.report.csv")
        assert (
            line["what"]
            == f"the connection was lost; {len(SAMPLE)} bytes of {SLUG}.csv had come, nothing of it is imported"
        )
        assert line["allowed"] == "send the whole file again"
        assert (failed(erp.root) / f"{SLUG}.csv.1.part").read_bytes() == SAMPLE
        assert erp.names("import") == erp.names("import", "done") == []

    def test_that_is_cut_by_the_end_of_the_server_is_put_away(self, erp: Erp) -> None:
        service = erp.member.service

        async def run(store: Store) -> None:
            async with server(store, service.settings) as (port, _):
                connection = await connecting(port, erp.login, erp.password)
                client = await connection.start_sftp_client()
                await (await client.open(f"/import/{SLUG}.csv", "wb")).write(SAMPLE)
            async with asyncio.timeout(PATIENCE):
                await connection.wait_closed()

        service.run(run)

        assert erp.names("import", "failed") == [f"{SLUG}.csv.1.part", f"{SLUG}.csv.1.part.report.csv"]


class TestScan:
    """Files that nobody closed: after a crash, or put there by other means."""

    def test_takes_what_lies_there(self, erp: Erp) -> None:
        for name in (f"{SLUG}.csv", "notes.txt", f"{SLUG}.fresh.csv"):
            (incoming(erp.root) / name).write_bytes(SAMPLE)
        for name in (f"{SLUG}.csv", "notes.txt"):
            os.utime(incoming(erp.root) / name, (1, 1))
        # A little ahead, so that it stays fresh for longer than a busy machine takes.
        os.utime(incoming(erp.root) / f"{SLUG}.fresh.csv", (time.time() + 9,) * 2)

        async def scan(store: Store) -> None:
            await Receiving(store, home=erp.member.service.settings.home, limit=1, ordered=lambda: None).scan()

        erp.member.service.run(scan)
        work_off(erp.member)

        assert erp.names("import") == ["notes.txt", f"{SLUG}.fresh.csv"]
        assert erp.names("import", "done") == [f"{SLUG}.csv", f"{SLUG}.csv.report.csv"]


class TestRecover:
    """What a server that was killed has left."""

    def test_puts_away_parts_but_not_what_was_moved(self, erp: Erp) -> None:
        home = erp.member.service.settings.home
        kept = home / "sftp-uploads" / erp.member.prefix
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "1.cut.csv").write_bytes(SAMPLE)
        (kept / "2.moved.csv").write_bytes(SAMPLE)
        (incoming(erp.root) / "moved.csv").hardlink_to(kept / "2.moved.csv")

        Receiving(erp.member.service.store, home=home, limit=1, ordered=lambda: None).recover()

        assert list(kept.iterdir()) == []
        assert erp.names("import") == ["moved.csv"]
        assert erp.names("import", "failed") == ["cut.csv.1.part", "cut.csv.1.part.report.csv"]


class Serving:
    """`stammdaten sftp` in a process of its own."""

    port: int

    def __init__(self, settings: Settings, port: int = 0) -> None:
        self.log = settings.home / f"sftp-log-{time.monotonic_ns()}"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [STAMMDATEN, "sftp"], env=environment(settings, sftp_port=port), stdout=log, stderr=log
            )

    async def ready(self) -> None:
        """Wait until it listens."""
        await until(self._is_ready)

    def _is_ready(self) -> bool:
        log = self.log.read_text()
        assert self.process.poll() is None, log
        listening = re.search(r"listening on 127\.0\.0\.1:(\d+)", log)
        if listening is not None:
            self.port = int(listening[1])
        return listening is not None

    def end(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def serving(fresh: Settings) -> Iterator[Callable[..., Serving]]:
    """Starts the real command; what still runs is killed."""
    started: list[Serving] = []

    def start(port: int = 0) -> Serving:
        started.append(Serving(fresh, port))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


class TestCommands:
    """`stammdaten sftp` and `sftp-login`."""

    def test_serve_until_killed_and_after(
        self, fresh: Settings, serving: Callable[..., Serving], tmp_path: Path
    ) -> None:
        command(fresh, "account", "create", "A", "--prefix", "acme")
        command(fresh, "user", "create", "--prefix", "acme", "--name", "erp", "--role", "api-user")
        command(fresh, "list", "create", "--prefix", "acme", "Spare Parts")
        created = ("sftp-login", "create", "--prefix", "acme", "--user", "erp", "acme-erp")
        password = command(fresh, *created).splitlines()[-1]
        root = space(fresh.home, "acme")

        async def run() -> None:
            first = serving()
            await first.ready()
            soft, hard = resource.prlimit(first.process.pid, resource.RLIMIT_NOFILE)
            assert soft == hard
            connection = await connecting(first.port, "acme-erp", password)
            client = await connection.start_sftp_client()
            await (await client.open(f"/import/{SLUG}.cut.csv", "wb")).write(SAMPLE)
            first.end(signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                await connection.wait_closed()

            second = serving()
            await second.ready()
            async with connecting(second.port, "acme-erp", password) as again:
                await put(await again.start_sftp_client(), f"/import/{SLUG}.csv")
                await until((root / "import" / "done" / f"{SLUG}.csv").exists)
                await until(lambda: any((root / "export").glob("*.csv")))
            third = serving()
            assert third.process.wait(PATIENCE) == 1
            assert "Another SFTP server is running" in third.log.read_text()
            (fresh.home / "sftp.lock").unlink()
            fourth = serving(second.port)
            assert fourth.process.wait(PATIENCE) == 1
            assert f"cannot listen on 127.0.0.1:{second.port}" in fourth.log.read_text()
            assert second.end(signal.SIGTERM) == 0
            assert password not in first.log.read_text() + second.log.read_text()
            fingerprints = [re.findall(r"SHA256:[^\"]+", log.log.read_text()) for log in (first, second)]
            assert fingerprints[0] == fingerprints[1]
            assert fingerprints[0]

        asyncio.run(run())

        assert (root / "import" / "failed" / f"{SLUG}.cut.csv.1.part").read_bytes() == SAMPLE
        assert "server was stopped" in (root / "import" / "failed" / f"{SLUG}.cut.csv.1.part.report.csv").read_text()
        assert "There is an SFTP login" in command(fresh, *created, expect=1)

    def test_make_list_and_remove_logins(self, anna: Member, no_role: Member, tmp_path: Path) -> None:
        settings = anna.service.settings
        login = f"{anna.prefix}-erp"
        private = asyncssh.generate_private_key("ssh-ed25519")
        private.write_public_key(tmp_path / "key.pub")
        private.write_private_key(tmp_path / "key")
        create = ("sftp-login", "create", "--prefix", anna.prefix, "--user")

        by_key = done(settings, *create, "anna", login, "--key", str(tmp_path / "key.pub"))
        (password,) = done(settings, *create, "anna", f"{login}-2")
        said = [
            refused(settings, *create, "anna", login),
            refused(settings, *create, "anna", "Größe"),
            refused(settings, *create, "nobody", "other"),
            refused(settings, *create, "no_role", "other"),
            refused(settings, *create, "anna", "other", "--key", str(tmp_path / "key")),
            refused(settings, *create, "anna", "other", "--key", str(tmp_path / "missing")),
            refused(settings, *create, "anna", "other", "--key", str(tmp_path)),
            refused(settings, *create, "anna", "other", "--key", "/dev/zero"),
        ]
        listed = done(settings, "sftp-login", "list", "--prefix", anna.prefix)
        done(settings, "sftp-login", "remove", "--prefix", anna.prefix, login)
        gone = refused(settings, "sftp-login", "remove", "--prefix", anna.prefix, login)

        assert by_key == []
        assert len(password) == 43
        assert [line.split("\t")[:3] for line in listed] == [
            [login, "anna", "1 key"],
            [f"{login}-2", "anna", "password"],
        ]
        for sentence, expected in zip(
            [*said, gone],
            ["already", "1 to 63", "no user", "role client-admin", "private", "No such", "directory", "one", "no SFTP"],
            strict=True,
        ):
            assert expected in sentence
        assert (space(settings.home, anna.prefix) / "import" / "done").is_dir()

    def test_make_no_login_without_a_space(self, fresh: Settings) -> None:
        done(fresh, "account", "create", "A", "--prefix", "acme")
        done(fresh, "user", "create", "--prefix", "acme", "--name", "erp", "--role", "api-user")
        (fresh.home / "sftp").touch()

        said = refused(fresh, "sftp-login", "create", "--prefix", "acme", "--user", "erp", "acme-erp")

        assert "folders of the instance cannot be made" in said
        assert done(fresh, "sftp-login", "list", "--prefix", "acme") == []

    def test_remove_no_login_of_another_instance(self, erp: Erp, bruno: Member) -> None:
        refused(bruno.service.settings, "sftp-login", "remove", "--prefix", bruno.prefix, erp.login)

        assert can_log_in(erp)
