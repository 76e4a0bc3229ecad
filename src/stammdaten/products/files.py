"""The files attached to products: their copies in the home folder, their names on the product."""

import json
import os
import shutil
from pathlib import Path

from stammdaten.disk import sync
from stammdaten.products.queries import live_products
from stammdaten.products.standing import Attaching, Deed, Detaching, attach_files, detach_files
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotFound
from stammdaten.store import Store


async def attach(store: Store, instance_id: int, deed: Deed, file: Path, *, home: Path) -> str:
    """Copy a file into the home folder and name it on the product; return the path that serves as its id.

    :raises NotFound: if there is no such product.
    :raises AlreadyExists: if the product has a file of that name.
    :raises Invalid: if the name holds control characters or is too long.
    """
    if not file.name.isprintable() or len(file.name) > 200:  # noqa: PLR2004 - file systems end at 255 bytes
        raise Invalid([Fault("file", "must have a printable name of at most 200 characters")])
    async with store.reading(instance_id) as read:
        found = (await live_products(read, [deed.article_number])).get(deed.article_number)
    if found is None:
        raise NotFound("There is no product with this article_number.")
    path = f"{found[0].id}/{file.name}"
    if any(attached["path"] == path for attached in json.loads(found[0].files or "[]")):
        raise AlreadyExists("The product has a file of this path already.")
    # In its place before the product names it: a crash between leaves a file too many, not a name without one.
    kept = _kept(home, instance_id, path)
    kept.parent.mkdir(parents=True, exist_ok=True)
    copy = kept.with_name(f"{kept.name}.{os.getpid()}.copy")
    try:
        shutil.copyfile(file, copy)
        sync(copy)
        copy.rename(kept)
        for folder in kept.parents[:4]:  # as many as may be new, and the home folder
            sync(folder)
    finally:
        copy.unlink(missing_ok=True)
    await store.submit(instance_id, attach_files, Attaching(deed.article_number, deed.user_name, path))
    return path


async def detach(store: Store, instance_id: int, row: Detaching, *, home: Path) -> None:
    """Take a file off the product and remove the copy.

    :raises NotFound: if there is no such product, or it has no such file.
    """
    await store.submit(instance_id, detach_files, row)
    _kept(home, instance_id, row.path).unlink(missing_ok=True)


def _kept(home: Path, instance_id: int, path: str) -> Path:
    return home / "files" / str(instance_id) / path
