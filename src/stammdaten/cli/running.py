"""What all commands share: opening the store, finding the instance, saying what went wrong."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

from stammdaten.auth.queries import instance_by_prefix
from stammdaten.refusals import NotFound, Refusal
from stammdaten.settings import read_settings
from stammdaten.store import Store, Write, WriteShared, open_store
from stammdaten.store.batches import Operation
from stammdaten.store.schema import check_schema, revision

T = TypeVar("T")

# Who acts when an operator uses a command; also the name in histories.
OPERATOR = "operator"

Prefix = Annotated[str, typer.Option("--prefix", help="The instance's prefix.")]
ArticleNumber = Annotated[str, typer.Argument(help="The product's article number.")]


def noun(help_text: str) -> typer.Typer:
    """Make the group of commands of one noun."""
    return typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode=None)


@contextmanager
def failing() -> Iterator[None]:
    """Turn a refusal into a sentence on standard error and exit code 1."""
    try:
        yield
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        sys.exit(1)
    except UnicodeEncodeError:
        # An argument that is no UTF-8 reaches the database as lone surrogates, and names nothing there.
        sys.stderr.write("There is no such thing: what was given is not UTF-8.\n")
        sys.exit(1)


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


def say(line: object) -> None:
    """Print a line for another program: never wrapped, never coloured."""
    sys.stdout.write(f"{line}\n")
