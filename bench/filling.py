"""Fills a stammdaten database with the measured data, by the service's operations, thousands of rows a batch.

Run in a process of its own: `python -m bench.filling ROWS CONTACTS LIST_ID`, with stammdaten's settings and
BENCH_TOKEN in the environment.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bench.data import batches, contact, product
from stammdaten.auth.callers import Caller
from stammdaten.auth.queries import caller_by_token_hash
from stammdaten.auth.tokens import token_hash
from stammdaten.contacts.operations import ContactChange, create_contacts
from stammdaten.contacts.shapes import read_new_contact
from stammdaten.products.operations import NewProduct, create_products
from stammdaten.products.shapes import read_create
from stammdaten.settings import read_settings
from stammdaten.store import Store, Write, open_store

_BATCH = 2_000


async def fill(*, rows: int, contacts: int, list_id: int, token: str) -> None:
    """Create the products and contacts, on behalf of the token's user."""
    async with await open_store(read_settings()) as store:
        async with store.reading_shared() as read:
            found = await caller_by_token_hash(read, token_hash(token))
        if found is None:
            raise SystemExit("BENCH_TOKEN is no good token")
        caller = found[0]
        for batch in batches(1, rows, _BATCH):
            await _create(
                store,
                caller,
                create_products,
                [_product(caller, list_id, n) for n in batch],
            )
        for batch in batches(1, contacts, _BATCH):
            await _create(store, caller, create_contacts, [_contact(caller, n) for n in batch])


def _product(caller: Caller, list_id: int, n: int) -> NewProduct:
    _, article_number, values = read_create({"list_id": list_id, "product": product(n)}, [])
    return NewProduct(caller=caller, list_id=list_id, article_number=article_number, values=values)


def _contact(caller: Caller, n: int) -> ContactChange:
    return ContactChange(caller, read_new_contact({"contact": contact(n)}, []))


async def _create(
    store: Store,
    caller: Caller,
    operation: Callable[[Write, Sequence[Any]], Awaitable[Any]],
    rows: list[Any],
) -> None:
    outcomes = await store.writing(caller.instance_id, lambda write: operation(write, rows))
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


if __name__ == "__main__":
    _rows, _contacts, _list_id = map(int, sys.argv[1:])
    asyncio.run(
        fill(
            rows=_rows,
            contacts=_contacts,
            list_id=_list_id,
            token=os.environ["BENCH_TOKEN"],
        )
    )
