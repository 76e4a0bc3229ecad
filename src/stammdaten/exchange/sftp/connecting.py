"""Who may connect to the SFTP server, and for how long: logins, limits, sessions; knows nothing of files."""

import asyncio
import fcntl
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

import asyncssh
from asyncssh.packet import SSHPacket
from asyncssh.sftp import SFTPServerHandler
from asyncssh.stream import SSHServerStreamSession

from stammdaten.auth.logins import Login, is_password, login_by_name
from stammdaten.exchange.sftp.folders import make_space
from stammdaten.exchange.sftp.keys import exported, host_key
from stammdaten.exchange.sftp.receiving import Receiving
from stammdaten.exchange.sftp.spaces import Space
from stammdaten.exchange.sftp.visits import Visit
from stammdaten.refusals import Unavailable
from stammdaten.settings import Settings
from stammdaten.store import Store

# The version that all clients speak; later ones differ in what is not offered here.
_VERSION = 3
_OFFERED = {b"posix-rename@openssh.com", b"fsync@openssh.com", b"limits@openssh.com"}
_MOST_CONNECTIONS = 100
_MOST_NOT_LOGGED_IN = 20
_MOST_OF_ONE_LOGIN = 10
_MOST_SESSIONS = 4
_MOST_ATTEMPTS = 6
_LOGIN_SECONDS = 30
_ALIVE_SECONDS = 30
_CHECK_SECONDS = 2
_END_SECONDS = 10

_log = logging.getLogger(__name__)


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Hold the lock that one SFTP server for each STAMMDATEN_HOME has.

    :raises Unavailable: if another has it.
    """
    home.mkdir(parents=True, exist_ok=True)
    with (home / "sftp.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Unavailable(f"Another SFTP server is running on {home}.") from error
        yield


@asynccontextmanager
async def listening(store: Store, settings: Settings, receiving: Receiving) -> AsyncIterator[int]:
    """Serve SFTP, and yield the port; connections are ended when the context is left.

    :raises Unavailable: if the port or the host key cannot be used.
    """
    key = host_key(settings.home)
    door = _Door(store, settings.home, receiving)
    try:
        acceptor = await asyncssh.listen(
            settings.host,
            settings.sftp_port,
            server_factory=lambda: _Connection(door),
            server_host_keys=[key],
            server_version="stammdaten",
            encoding=None,
            allow_scp=False,
            allow_pty=False,
            agent_forwarding=False,
            x11_forwarding=False,
            gss_host=None,
            compression_algs=None,
            login_timeout=_LOGIN_SECONDS,
            keepalive_interval=_ALIVE_SECONDS,
        )
    except OSError as error:
        where = f"{settings.host}:{settings.sftp_port}"
        raise Unavailable(f"The SFTP server cannot listen on {where}: {error.strerror}.") from error
    watch = asyncio.create_task(door.watch())
    try:
        _log.info("sftp: listening on %s:%s, %s", settings.host, acceptor.get_port(), key.get_fingerprint())
        yield acceptor.get_port()
    finally:
        watch.cancel()
        acceptor.close()
        await door.close()


class _Door:
    """All connections that there are, and the logins they have."""

    def __init__(self, store: Store, home: Path, receiving: Receiving) -> None:
        self._store = store
        self._home = home
        self._receiving = receiving
        self.connections: set[_Connection] = set()
        self.sessions: set[asyncio.Task[None]] = set()

    def has_room(self) -> bool:
        """Whether one more connection may be made."""
        strangers = sum(connection.visit is None for connection in self.connections)
        return len(self.connections) < _MOST_CONNECTIONS and strangers < _MOST_NOT_LOGGED_IN

    async def login(self, name: str) -> Login | None:
        """Return a login that is good now; none while the database is away."""
        try:
            async with self._store.reading_shared() as read:
                return await login_by_name(read, name)
        except Unavailable:
            _log.warning("sftp: nobody can log in: the database is away")
            return None

    def visit(self, login: Login) -> Visit | None:
        """Let a login in, if it has not too many connections."""
        visits = [connection.visit for connection in self.connections if connection.visit is not None]
        if sum(visit.login.name == login.name for visit in visits) >= _MOST_OF_ONE_LOGIN:
            return None
        _log.info("sftp: %s of %s has come", login.name, login.caller.prefix)
        return Visit(login, make_space(self._home, login.caller.prefix), self._receiving)

    async def watch(self) -> None:
        """End connections whose login was removed, or whose user may no longer have one, until cancelled."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self._end_removed()
            except Unavailable:
                continue
            except Exception:
                # Whatever one look met, the next one must come.
                _log.exception("sftp: an unexpected error")

    async def _end_removed(self) -> None:
        # Those that are here now: of who comes while the database answers, it was not asked.
        logins = {connection: connection.visit.login for connection in self.connections if connection.visit}
        names = {login.name for login in logins.values()}
        async with self._store.reading_shared() as read:
            good = {(name, login.created_at) for name in names if (login := await login_by_name(read, name))}
        for connection, login in logins.items():
            if (login.name, login.created_at) not in good and connection in self.connections:
                connection.end("This login was removed.")

    async def close(self) -> None:
        """End all connections, and wait until what they sent is put away."""
        for connection in list(self.connections):
            connection.end("The server is stopped.")
        if self.sessions:
            await asyncio.wait(self.sessions, timeout=_END_SECONDS)


class _Connection(asyncssh.SSHServer):
    """One connection: who it is, once it said so."""

    def __init__(self, door: _Door) -> None:
        self._door = door
        self._connection: asyncssh.SSHServerConnection | None = None
        self._login: Login | None = None
        self._failures = 0
        self.visit: Visit | None = None
        self.sessions = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        if self._door.has_room():
            self._door.connections.add(self)
        else:
            _log.warning("sftp: a connection is refused: there are too many")
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's
        self._door.connections.discard(self)
        if self.visit is not None:
            _log.info("sftp: %s of %s has left", self.visit.login.name, self.visit.login.caller.prefix)

    def end(self, why: str) -> None:
        """End the connection; what was being sent is cut."""
        if self._connection is not None:
            self._connection.disconnect(asyncssh.DISC_BY_APPLICATION, why)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - the protocol's
        return True

    def password_auth_supported(self) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        login = await self._door.login(username)
        kept = "" if login is None else login.password_hash
        return self._judged(login, is_good=await asyncio.to_thread(is_password, password, kept))

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        login = await self._door.login(username)
        return self._judged(login, is_good=login is not None and exported(key) in login.public_keys)

    def _judged(self, login: Login | None, *, is_good: bool) -> bool:
        self._login = login if is_good else None
        self._failures += self._login is None
        if self._login is None:
            # A name that is none may be a password, in the wrong field.
            _log.warning("sftp: a login is refused: %s", "unknown" if login is None else login.name)
        if self._failures >= _MOST_ATTEMPTS:
            self.end("Too many attempts.")
        return self._login is not None

    def auth_completed(self) -> None:
        self.visit = None if self._login is None else self._door.visit(self._login)
        if self.visit is None:
            self.end("This login has too many connections.")

    def session_requested(self) -> "_Session | bool":
        if self.visit is None or self.sessions >= _MOST_SESSIONS:
            return False
        return _Session(self, self.visit, self._door.sessions)


class _Session(SSHServerStreamSession[bytes]):
    """A channel that offers SFTP and nothing else: no shell, no command, no other subsystem."""

    def __init__(self, connection: _Connection, visit: Visit, sessions: set[asyncio.Task[None]]) -> None:
        super().__init__(None)
        connection.sessions += 1
        self._connection = connection
        self._visit = visit
        self._sessions = sessions

    def shell_requested(self) -> bool:
        return False

    def exec_requested(self, command: str) -> bool:  # noqa: ARG002 - the protocol's
        return False

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "sftp"

    def exception_received(self, exc: Exception) -> None:
        """Pass over signals, breaks and sizes of windows, which would end the session amid what it sends."""

    def session_started(self) -> None:
        # A session of a server has a channel of a server, which the base class does not say.
        task = asyncio.create_task(self._serve(cast("asyncssh.SSHServerChannel[bytes]", self._chan)))
        self._sessions.add(task)
        task.add_done_callback(self._sessions.discard)

    async def _serve(self, channel: "asyncssh.SSHServerChannel[bytes]") -> None:
        reader, writer = asyncssh.SSHReader(self, channel), asyncssh.SSHWriter(self, channel)
        try:
            await _Handler(Space(self._visit, channel), reader, writer, _VERSION).run()
        except Exception:
            _log.exception("sftp: an unexpected error")
            channel.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._connection.sessions -= 1


class _Handler(SFTPServerHandler):
    """Speaks the protocol, without what is not offered here; tells a handle that was closed from one that was cut."""

    # Not public, and without them requests would pass the methods of `Space`: a test holds what comes of them.
    _extensions = [item for item in SFTPServerHandler._extensions if item[0] in _OFFERED]  # noqa: RUF012, SLF001
    _packet_handlers = {  # noqa: RUF012 - as in the base class
        kind: handler
        for kind, handler in SFTPServerHandler._packet_handlers.items()  # noqa: SLF001 - see above
        if isinstance(kind, int) or kind in _OFFERED
    }

    def __init__(
        self, space: Space, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes], sftp_version: int
    ) -> None:
        super().__init__(space, reader, writer, sftp_version)
        self._space = space
        self._answers = writer

    async def recv_packet(self) -> SSHPacket:
        # A client that asks and asks and never reads would have its answers pile up in memory.
        await self._answers.drain()
        return await super().recv_packet()

    async def recv_packets(self) -> None:
        try:
            await super().recv_packets()
        except Exception as error:
            # The base class cleans up after those that it expects.
            await self._cleanup(error)
            raise

    async def _cleanup(self, exc: Exception | None) -> None:
        # The base class closes here what the client has not, by the same method as if it had.
        self._space.is_cut = True
        await super()._cleanup(exc)
