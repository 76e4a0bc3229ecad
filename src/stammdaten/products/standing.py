"""What only operators and staff do to products: archive, delete, restore, classify, record findings, attach files."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stammdaten.classification.rules import Classification
from stammdaten.products.drafts import Draft, Drafts, Event, attempt
from stammdaten.products.queries import newest_deleted
from stammdaten.refusals import AlreadyExists, NotFound, Refusal
from stammdaten.store import Write

_NO_PRODUCT = "There is no product with this article_number."


@dataclass(frozen=True, slots=True)
class Deed:
    """A row of the operations here: who does it to which product."""

    article_number: str
    user_name: str


@dataclass(frozen=True, slots=True)
class Archiving(Deed):
    """A row of `archive_products`: archive, or bring back."""

    is_archived: bool


@dataclass(frozen=True, slots=True)
class Classifying(Deed):
    """A row of `classify_products`."""

    record: Classification


@dataclass(frozen=True, slots=True)
class Eccns(Deed):
    """A row of `record_eccns`: no codes and no comment take the record away."""

    codes: tuple[str, ...]
    comment: str


@dataclass(frozen=True, slots=True)
class Unlisting(Deed):
    """A row of `unlist_products`: found on no goods list, or not so any more."""

    is_unlisted: bool


@dataclass(frozen=True, slots=True)
class Attaching(Deed):
    """A row of `attach_files`: `path` serves as the file's id."""

    path: str


@dataclass(frozen=True, slots=True)
class Detaching(Deed):
    """A row of `detach_files`."""

    path: str


async def _each_live(
    write: Write, rows: Sequence[Any], apply: Callable[[Drafts, Draft, Any], None]
) -> list[int | Refusal]:
    """Apply a rule to the live product of each row; the outcome is the id of the newest action on it."""
    drafts = await Drafts.of(write, [row.article_number for row in rows])

    def one(row: Deed) -> int:
        draft = drafts.live(row.article_number)
        if draft is None:
            raise NotFound(_NO_PRODUCT)
        apply(drafts, draft, row)
        return draft.action_id

    outcomes = attempt(one, rows)
    await drafts.save()
    return outcomes


async def archive_products(write: Write, rows: Sequence[Archiving]) -> list[int | Refusal]:
    """Archive products, or bring them back; NotFound without a live product of the number."""

    def apply(drafts: Drafts, draft: Draft, row: Archiving) -> None:
        drafts.archive(draft, user_name=row.user_name, is_archived=row.is_archived)

    return await _each_live(write, rows, apply)


async def delete_products(write: Write, rows: Sequence[Deed]) -> list[int | Refusal]:
    """Mark products as deleted; their numbers become free. NotFound without a live product of the number."""

    def apply(drafts: Drafts, draft: Draft, row: Deed) -> None:
        drafts.delete(draft, Event("deleted", "Product Deleted", row.user_name))

    return await _each_live(write, rows, apply)


async def restore_products(write: Write, rows: Sequence[Deed]) -> list[int | Refusal]:
    """Restore the newest deleted product of each number; NotFound, or AlreadyExists while the number is in use."""
    outcomes: list[int | Refusal] = []
    for row in rows:  # one by one: an operator restores a single product, and each look depends on the last restore
        found = await newest_deleted(write, row.article_number)
        drafts = await Drafts.of(write, [row.article_number])
        if drafts.live(row.article_number):
            outcomes.append(AlreadyExists("The article_number is in use by another product."))
        elif found is None:
            outcomes.append(NotFound("There is no deleted product with this article_number."))
        else:
            draft = drafts.restore(*found, Event("restored", "Product Restored", row.user_name))
            await drafts.save()
            outcomes.append(draft.action_id)
    return outcomes


async def classify_products(write: Write, rows: Sequence[Classifying]) -> list[int | Refusal]:
    """Record classifications; NotFound without a live product of the number."""

    def apply(drafts: Drafts, draft: Draft, row: Classifying) -> None:
        drafts.classify(draft, row.record, Event("classified", "Product Classified", row.user_name))

    return await _each_live(write, rows, apply)


async def record_eccns(write: Write, rows: Sequence[Eccns]) -> list[int | Refusal]:
    """Record ECCN codes and a comment; NotFound without a live product of the number."""

    def apply(drafts: Drafts, draft: Draft, row: Eccns) -> None:
        recorded = {"codes": row.codes, "comment": row.comment}
        kept = json.dumps(recorded, ensure_ascii=False) if row.codes or row.comment else None
        drafts.change(draft, {"eccns": kept}, Event("eccn", "ECCN Recorded", row.user_name))

    return await _each_live(write, rows, apply)


async def unlist_products(write: Write, rows: Sequence[Unlisting]) -> list[int | Refusal]:
    """Mark products as on no goods list, or take the mark away; NotFound without a live product of the number."""

    def apply(drafts: Drafts, draft: Draft, row: Unlisting) -> None:
        done = ("unlisted", "Unlisted Goods") if row.is_unlisted else ("listed", "Unlisted Goods Withdrawn")
        drafts.change(draft, {"is_unlisted": row.is_unlisted}, Event(*done, row.user_name))

    return await _each_live(write, rows, apply)


async def attach_files(write: Write, rows: Sequence[Attaching]) -> list[int | Refusal]:
    """Name attached files; AlreadyExists if the product has one of that path, NotFound without a live product."""

    def apply(drafts: Drafts, draft: Draft, row: Attaching) -> None:
        files = _files(draft)
        if any(file["path"] == row.path for file in files):
            raise AlreadyExists("The product has a file of this path already.")
        # The file's date is in the same form as the product's stamps.
        files.append({"path": row.path, "username": row.user_name, "date": drafts.now})
        drafts.change(draft, _kept(files), Event("attached", "File Attached", row.user_name))

    return await _each_live(write, rows, apply)


async def detach_files(write: Write, rows: Sequence[Detaching]) -> list[int | Refusal]:
    """Take attached files off; NotFound without the product or the file."""

    def apply(drafts: Drafts, draft: Draft, row: Detaching) -> None:
        files = _files(draft)
        left = [file for file in files if file["path"] != row.path]
        if len(left) == len(files):
            raise NotFound("The product has no file of this path.")
        drafts.change(draft, _kept(left), Event("detached", "File Detached", row.user_name))

    return await _each_live(write, rows, apply)


def _files(draft: Draft) -> list[dict[str, str]]:
    files: list[dict[str, str]] = json.loads(draft.product.files or "[]")
    return files


def _kept(files: list[dict[str, str]]) -> dict[str, str]:
    return {"files": json.dumps(files, ensure_ascii=False) if files else ""}
