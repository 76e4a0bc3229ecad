"""The SFTP server when things go wrong: odd requests, restarts, full disks, holes, and who comes at a bad moment."""

import asyncio
import os
import resource
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import asyncssh
import pytest
from asyncssh.packet import Byte, String, UInt32

from stammdaten.auth.callers import Caller
from stammdaten.auth.logins import Login, is_password, remove_login
from stammdaten.exchange.orders import imports_folder
from stammdaten.exchange.sftp.folders import failed, incoming, put_away_with_report, space
from stammdaten.exchange.sftp.receiving import Receiving
from stammdaten.exchange.sftp.uploads import Upload
from stammdaten.refusals import TooLarge
from stammdaten.settings import Settings
from stammdaten.store import Store, open_store
from tests.cast import Member, found_product
from tests.processes import PATIENCE, command
from tests.test_sftp import (
    SAMPLE,
    SLUG,
    Erp,
    Serving,
    connecting,
    erp_of,
    held_open,
    put,
    server,
    session,
    until,
    work_off,
)
from tests.test_sftp import TestProtocol as Protocol

Deeds = tuple[int | tuple[str, int], ...]
T = TypeVar("T")
PIECE = 1000


@pytest.fixture
def erp(anna: Member) -> Erp:
    """Anna's ERP system."""
    return erp_of(anna)


def designated(text: str) -> bytes:
    """Return a file that gives A-1 a designation."""
    return SAMPLE.replace(b"Bolt", text.encode())


def designation(erp: Erp) -> object:
    """Return the designation that A-1 has."""
    return found_product(erp.member, "A-1")["data"][0]["designation"]


def lay(erp: Erp, name: str, text: str, *, age: float) -> None:
    """Put a file into `import/` as it would lie there when the server starts; `age` is in seconds."""
    file = incoming(erp.root) / f"{SLUG}.{name}.csv"
    file.write_bytes(designated(text))
    lie(file, age)


def lie(file: Path, age: float) -> None:
    """Make a file so much older than it is."""
    status = file.stat()
    then = status.st_mtime_ns - int(age * 1e9)
    os.utime(file, ns=(then, then))


def scan(erp: Erp) -> None:
    """Start anew, and take what lies there."""

    async def run(store: Store) -> None:
        await Receiving(store, home=erp.member.service.settings.home, limit=1, ordered=lambda: None).scan()

    erp.member.service.run(run)


def serving_to(erp: Erp, work: Callable[[asyncssh.SFTPClient, Receiving], Awaitable[T]]) -> T:
    """Do something as a client and as the server."""

    async def run(store: Store) -> T:
        async with session(store, erp) as (client, receiving):
            return await work(client, receiving)

    return erp.member.service.run(run)


class TestSession:
    """A channel while files are sent through it."""

    @pytest.mark.parametrize(
        "request_",
        [
            lambda channel: channel.change_terminal_size(80, 24),
            lambda channel: channel.send_signal("INT"),
            lambda channel: channel.send_break(100),
        ],
        ids=["window-change", "signal", "break"],
    )
    def test_passes_over_what_is_for_terminals(self, erp: Erp, request_: Callable[[Any], None]) -> None:
        kept = erp.member.service.settings.home / "sftp-uploads" / erp.member.prefix

        async def run(store: Store) -> bytes:
            async with (
                server(store, erp.member.service.settings) as (port, _),
                connecting(port, erp.login, erp.password) as connection,
            ):
                writer, reader, _ = await connection.open_session(subsystem="sftp", encoding=None)
                close = Byte(4) + UInt32(7) + String(bytes(4))
                for packet in (Byte(1) + UInt32(3), Protocol.OPEN, Protocol.WRITE, b"", close):
                    if packet:
                        writer.write(UInt32(len(packet)) + packet)
                    else:
                        request_(writer.channel)
                writer.write_eof()
                answers: bytes = await reader.read()
                return answers

        answers = erp.member.service.run(run)
        work_off(erp.member)

        assert Byte(101) + UInt32(7) + UInt32(0) in answers
        assert held_open(kept) == list(kept.iterdir()) == []
        assert erp.names("import", "done") == [f"{SLUG}.csv", f"{SLUG}.csv.report.csv"]


class TestOrder:
    """Which of two files for one article is imported last."""

    def test_puts_what_comes_behind_what_lies_there(self, erp: Erp) -> None:
        for number in range(5):
            lay(erp, f"{number}", f"old {number}", age=60 - number)

        async def send(client: asyncssh.SFTPClient, receiving: Receiving) -> list[str]:
            await put(client, f"/import/{SLUG}.csv", designated("new"))
            waiting = erp.names("import")
            await receiving.scan()
            return waiting

        waiting = serving_to(erp, send)
        work_off(erp.member)

        assert len(waiting) == 6
        assert erp.names("import") == []
        assert designation(erp) == "new"

    def test_waits_for_what_is_still_written(self, erp: Erp) -> None:
        lay(erp, "copied", "old", age=1)

        async def send(client: asyncssh.SFTPClient, receiving: Receiving) -> list[str]:
            await put(client, f"/import/{SLUG}.csv", designated("new"))
            await receiving.scan()
            waiting = erp.names("import")
            lie(incoming(erp.root) / f"{SLUG}.copied.csv", 60)
            await receiving.scan()
            return waiting

        waiting = serving_to(erp, send)
        work_off(erp.member)

        assert waiting == [f"{SLUG}.copied.csv", f"{SLUG}.csv"]
        assert erp.names("import") == []
        assert designation(erp) == "new"

    def test_is_not_changed_by_attempts(self, erp: Erp) -> None:
        lay(erp, "older", "old", age=60)
        lay(erp, "newer", "new", age=50)
        linked = incoming(erp.root) / "linked"
        linked.hardlink_to(incoming(erp.root) / f"{SLUG}.older.csv")
        linked.unlink()

        scan(erp)
        work_off(erp.member)

        assert designation(erp) == "new"

    def test_outlives_a_restart(self, erp: Erp) -> None:
        imports = imports_folder(erp.member.service.settings.home, erp.member.instance_id)
        names = [f"{SLUG}.{name}.csv" for name in ("z", "m", "a", "renamed")]

        async def send(client: asyncssh.SFTPClient, _: Receiving) -> None:
            last = await client.open(f"/import/{names[2]}", "wb")
            await last.write(designated("third"))
            await put(client, "/import/part", designated("fourth"))
            await put(client, f"/import/{names[0]}", designated("first"))
            await put(client, f"/import/{names[1]}", designated("second"))
            await last.setstat(asyncssh.SFTPAttrs(atime=1, mtime=1))
            await last.close()
            await client.rename("/import/part", f"/import/{names[3]}")
            await client.utime(f"/import/{names[3]}", (1, 1))

        imports.parent.mkdir(exist_ok=True)
        imports.touch()
        serving_to(erp, send)
        imports.unlink()
        by_age = sorted(names, key=lambda name: (incoming(erp.root) / name).stat().st_mtime_ns)
        for name in names:
            lie(incoming(erp.root) / name, 60)
        scan(erp)
        work_off(erp.member)

        assert by_age == names
        assert designation(erp) == "fourth"


class TestFullDisk:
    """An upload that the disk does not take."""

    def test_gives_back_what_it_took(self, fresh: Settings) -> None:
        command(fresh, "account", "create", "A", "--prefix", "acme")
        command(fresh, "user", "create", "--prefix", "acme", "--name", "erp", "--role", "api-user")
        created = command(fresh, "sftp-login", "create", "--prefix", "acme", "--user", "erp", "acme-erp")
        kept, put_away = fresh.home / "sftp-uploads" / "acme", failed(space(fresh.home, "acme"))
        serving = Serving(fresh)

        async def run() -> list[int]:
            await serving.ready()
            async with (
                connecting(serving.port, "acme-erp", created.splitlines()[-1]) as connection,
                connection.start_sftp_client() as client,
            ):
                # Files of this process cannot grow over that, as if the disk were full.
                resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))
                file = await client.open(f"/import/{SLUG}.csv", "wb")
                with pytest.raises(asyncssh.SFTPFailure):
                    await file.write(bytes(1 << 20))
                while_open = [path.stat().st_size for path in kept.iterdir()]
                with pytest.raises(asyncssh.SFTPFailure, match="could not be kept"):
                    await file.close()
            return while_open

        try:
            while_open = asyncio.run(run())
        finally:
            serving.end(signal.SIGTERM)

        part = put_away / f"{SLUG}.csv.1.part"
        assert while_open == [0]
        assert list(kept.iterdir()) == []
        assert part.stat().st_size == 0
        assert f"File too large; 65536 bytes of {SLUG}.csv had come" in Path(f"{part}.report.csv").read_text()

    def test_keeps_no_part_for_longer_than_it_lasts(self, erp: Erp) -> None:
        kept = erp.member.service.settings.home / "sftp-uploads" / erp.member.prefix

        async def send(client: asyncssh.SFTPClient, receiving: Receiving) -> int:
            failed(erp.root).rmdir()
            failed(erp.root).touch()
            with pytest.raises(asyncssh.SFTPFailure):
                async with client.open(f"/import/{SLUG}.csv", "wb") as file:
                    await file.write(SAMPLE, PIECE)
            async with client.open("/import/still-open", "wb"):
                await receiving.scan()
                left = len(list(kept.iterdir()))
                failed(erp.root).unlink()
                await receiving.scan()
                await receiving.scan()
            return left

        left = serving_to(erp, send)

        assert left == 2
        assert list(kept.iterdir()) == []
        assert erp.names("import", "failed") == [f"{SLUG}.csv.1.part", f"{SLUG}.csv.1.part.report.csv"]
        assert "has a hole" in erp.report("import", "failed", f"{SLUG}.csv.1.part.report.csv")[0]["what"]


class TestLook:
    """The look after logins that were removed."""

    def test_leaves_alone_who_comes_meanwhile(self, erp: Erp) -> None:
        other = erp_of(erp.member, "other")
        settings = erp.member.service.settings

        async def run(threads: _Threads) -> list[Any]:
            asyncio.get_running_loop().set_default_executor(threads)
            async with await open_store(settings) as store, AsyncExitStack() as stack:
                port, _ = await stack.enter_async_context(server(store, settings))
                removed = await stack.enter_async_context(connecting(port, other.login, other.password))
                threads.may_run.clear()
                coming = asyncio.create_task(connecting(port, erp.login, erp.password).__aenter__())
                await until(threads.is_held.is_set)
                async with looking(settings):
                    threads.may_run.set()
                    connection = await coming
                stack.push_async_exit(connection)
                # Once a later look has ended the other one, the first look is over.
                at = erp.member.instance_id
                await store.writing(at, lambda write: remove_login(write, name=other.login))
                async with asyncio.timeout(PATIENCE):
                    await removed.wait_closed()
                async with connection.start_sftp_client() as client:
                    return list(await client.listdir("/import/done"))

        with _Threads() as threads:
            assert asyncio.run(run(threads)) == [".", ".."]


class _Threads(ThreadPoolExecutor):
    """Threads, where the check of a password may be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.may_run = threading.Event()
        self.may_run.set()
        self.is_held = threading.Event()

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        def wait() -> T:
            if is_password in getattr(work, "args", ()) and not self.may_run.is_set():
                self.is_held.set()
                self.may_run.wait(PATIENCE)
            return work(*args, **kwargs)

        return super().submit(wait)


@asynccontextmanager
async def looking(settings: Settings) -> AsyncIterator[None]:
    """Hold up a look in its middle, where the database can: SQLite's readers wait for nothing."""
    if settings.database_url is None:
        yield
        return
    connection = await asyncpg.connect(settings.database_url)
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE sftp_logins")
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'sftp_logins'::regclass"
            async with asyncio.timeout(PATIENCE):
                while not await connection.fetchval(waiting):  # noqa: ASYNC110 - the database calls nobody
                    await asyncio.sleep(0.05)
            yield
    finally:
        await connection.close()


class TestUpload:
    """Files whose pieces do not come one behind the other."""

    def sent(self, file: Path, *deeds: int | tuple[str, int]) -> Upload:
        """Send pieces by their number, of which each holds nothing but that, and set the size where a pair says so."""
        handle = os.open(file, os.O_WRONLY | os.O_CREAT)
        login = Login("erp", Caller(1, "acme", 1, "erp", frozenset()), "", (), "")
        upload = Upload(login, "sent", file, handle, 10 * PIECE)
        try:
            for deed in deeds:
                if isinstance(deed, int):
                    upload.write(deed * PIECE, bytes([deed]) * PIECE)
                else:
                    upload.resize(deed[1])
        finally:
            os.close(handle)
        return upload

    @pytest.mark.parametrize(
        ("deeds", "hole"),
        [
            ((0, 0, 2), 1000),
            ((1,), 0),
            ((2, 1), 0),
            ((0, 1, 1, 3, 4), 2000),
            ((0, 2, 4, 1), 3000),
            ((("size", 3000), 2, 0), 1000),
            ((0, 1, ("size", 1500), 2), 1500),
            ((0, 1, ("size", 1500), ("size", 2000)), 1500),
            ((0, 2, ("size", 500), 1), 500),
            ((0, 2, ("size", 1000), 3, 1), 2000),
            ((0, 3, ("size", 3500), 1, ("size", 4000), 2), 3500),
        ],
    )
    def test_has_a_hole(self, tmp_path: Path, deeds: Deeds, hole: int) -> None:
        upload = self.sent(tmp_path / "file", *deeds)

        with pytest.raises(TooLarge, match=rf"a hole behind byte {hole}\."):
            upload.check_whole()

    @pytest.mark.parametrize(
        "deeds",
        [
            (0, 1, 2),
            (2, 1, 0),
            (1, 3, 0, 2),
            (0, 1, 1, 0, 2, 2),
            (("size", 3000), 2, 0, 1),
            (0, 1, 2, ("size", 1500), 2, 1),
            (0, 3, 2, ("size", 3500), 1, 3),
        ],
    )
    def test_is_whole(self, tmp_path: Path, deeds: Deeds) -> None:
        upload = self.sent(tmp_path / "file", *deeds)

        upload.check_whole()

        pieces = range(1 + max(deed for deed in deeds if isinstance(deed, int)))
        assert (tmp_path / "file").read_bytes() == b"".join(bytes([piece]) * PIECE for piece in pieces)

    @pytest.mark.parametrize("size", [0, 1000, 1500])
    def test_is_whole_when_shortened(self, tmp_path: Path, size: int) -> None:
        upload = self.sent(tmp_path / "file", 0, 1, 5, 3, ("size", size))

        upload.check_whole()

        assert (tmp_path / "file").stat().st_size == size

    def test_holds_not_any_number_of_pieces(self, tmp_path: Path) -> None:
        with pytest.raises(TooLarge, match="do not follow each other"):
            self.sent(tmp_path / "file", *([1, 3, 5, 7] * 500))


class TestPutAwayWithReport:
    """Putting a file away, its report beside it."""

    def test_leaves_no_part_of_a_report(self, tmp_path: Path) -> None:
        (tmp_path / "given").touch()

        # A file that can be opened and not read.
        with pytest.raises(OSError, match="Input/output error"):
            put_away_with_report(
                tmp_path / "done",
                file=tmp_path / "given",
                file_name="f.csv",
                number=7,
                report=Path("/proc/self/mem"),
            )

        assert list((tmp_path / "done").iterdir()) == []
        assert (tmp_path / "given").exists()
