"""What all commands share: opening the store, finding the instance, saying what went wrong."""

import asyncio
import errno
import stat
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from stammdaten.auth.queries import instance_by_prefix
from stammdaten.refusals import NotAllowed, NotFound, Refusal
from stammdaten.settings import read_settings
from stammdaten.store import Store, Write, WriteShared, open_store
from stammdaten.store.batches import Operation
from stammdaten.store.schema import check_schema, revision

T = TypeVar("T")

# What the operator can mend about a file or disk; any other error of the system is a mistake of ours and stays one.
_MENDABLE = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EMFILE,
}

# Who acts when an operator uses a command; also the name in histories.
OPERATOR = "operator"

Prefix = Annotated[str, typer.Option("--prefix", help="The instance's prefix.")]
ArticleNumber = Annotated[str, typer.Argument(help="The product's article number.")]


def noun(help_text: str) -> typer.Typer:
    """Make the group of commands of one noun."""
    return typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode=None)


@contextmanager
def failing() -> Iterator[None]:
    """Turn a refusal, also one of the system, into a sentence on standard error and exit code 1."""
    try:
        yield
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        sys.exit(1)
    except OSError as error:
        if error.errno not in _MENDABLE:
            raise
        paths = " or ".join(str(path) for path in (error.filename, error.filename2) if path is not None)
        sys.stderr.write(f"{paths}: {error.strerror}.\n" if paths else f"{error.strerror}.\n")
        sys.exit(1)
    except UnicodeEncodeError:
        # An argument that is no UTF-8 reaches the database as lone surrogates, and names nothing there.
        sys.stderr.write("There is no such thing: what was given is not UTF-8.\n")
        sys.exit(1)


def check_file(file: Path, *, may_be_folder: bool = False) -> None:
    """Refuse what no file can be read from, before there is any work; `readable=False` keeps typer from saying less.

    :raises NotFound: if there is nothing of this name.
    :raises NotAllowed: if it is no regular file.
    :raises OSError: if it cannot be read.
    """
    try:
        kind = file.stat().st_mode
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {file}.") from error
    if may_be_folder and stat.S_ISDIR(kind):
        return
    # Nor a pipe: what is read from it is gone, and a file is read more than once.
    if not stat.S_ISREG(kind):
        raise NotAllowed(f"{file} is not a regular file.")
    with file.open("rb"):
        pass


def with_store(work: Callable[[Store], Awaitable[T]]) -> T:
    """Run work on the configured database; an embedded one that does not exist yet is created.

    :raises Refusal: if the database is away or of another version, or the work is refused.
    """

    async def run() -> T:
        settings = read_settings()
        async with await open_store(settings) as store:
            if settings.database_url is None and await revision(store) is None:
                await bring_up_to_date()
            await check_schema(store)
            return await work(store)

    return asyncio.run(run())


async def bring_up_to_date() -> None:
    """Migrate the configured database."""
    # Imported here: Alembic would weigh on every command and on the serving process.
    from stammdaten.store.migrating import migrate  # noqa: PLC0415

    await migrate(read_settings())


async def instance_id_of(store: Store, prefix: str) -> int:
    """Return the id of an instance.

    :raises NotFound: if there is none of that prefix.
    """
    async with store.reading_shared() as read:
        found = await instance_by_prefix(read, prefix)
    if found is None:
        raise NotFound(f"There is no instance with the prefix {prefix!r}.")
    return found[0]


def in_instance(prefix: str, work: Callable[[Store, int], Awaitable[T]]) -> T:
    """Run work on one instance."""

    async def run(store: Store) -> T:
        return await work(store, await instance_id_of(store, prefix))

    return with_store(run)


def write_in(prefix: str, work: Callable[[Write], Awaitable[T]]) -> T:
    """Run work in a transaction of one instance."""
    return in_instance(prefix, lambda store, instance_id: store.writing(instance_id, work))


def write_shared(work: Callable[[WriteShared], Awaitable[T]]) -> T:
    """Run work in a transaction on what instances share."""
    return with_store(lambda store: store.writing_shared(work))


def submit(prefix: str, operation: Operation, row: Any) -> Any:
    """Apply an operation to one row of an instance, as a request would."""
    return in_instance(prefix, lambda store, instance_id: store.submit(instance_id, operation, row))


def number_of(number: int, one: str, many: str) -> str:
    """Say how many there are."""
    return f"{number} {one if number == 1 else many}"


def printable(text: str) -> str:
    """Make text fit for a cell of a line: tabs and line breaks in it would make it two."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def say(line: object) -> None:
    """Print a line for another program: never wrapped, never coloured."""
    sys.stdout.write(f"{line}\n")
