"""The daily job that marks classifications whose validity has ended (decisions: Classification)."""

from dataclasses import replace

from sqlalchemy import or_, select

from stammdaten.auth.queries import instance_ids
from stammdaten.classification.rules import Status
from stammdaten.classification.tables import classifications
from stammdaten.clock import german_stamp
from stammdaten.history.operations import SERVICE
from stammdaten.jobs.running import Job
from stammdaten.products.drafts import Drafts, Event
from stammdaten.products.queries import products_by_id
from stammdaten.products.tables import has_its_number, products
from stammdaten.store import Statement, Store, Write, number, text, the_instance

JOB = "expire classifications"
# Small enough to hold up no writer for long: a stamp, an action and a rendering each.
_AT_ONCE = 200

_ENDED = Statement(
    select(classifications.c.id)
    .join(products, products.c.id == classifications.c.id)
    .where(
        the_instance(classifications, products),
        # A mark would be a change, and make an older deleted product the newest of its number.
        has_its_number,
        or_(classifications.c.status == Status.CLASSIFIED, classifications.c.status == Status.REVIEW),
        classifications.c.valid_until > "",
        classifications.c.valid_until < text("today"),
    )
    .order_by(classifications.c.id)
    .limit(number("most"))
)


async def expire_classifications(store: Store, job: Job) -> str:
    """Mark what ended before today, instance by instance; done twice, it finds nothing the second time."""
    async with store.reading_shared() as read:
        instances = await instance_ids(read)
    expired = 0
    for instance_id in instances:
        while marked := await store.writing(instance_id, _expire_some):
            expired += marked
            await job.keep({"expired": expired})
    return f"{expired} classifications expired"


async def _expire_some(write: Write) -> int:
    rows = await write.rows(_ENDED, today=german_stamp(write.now)[:10], most=_AT_ONCE)
    drafts = Drafts(write, await products_by_id(write, [row[0] for row in rows]))
    for draft in drafts:
        record = replace(draft.record, status=Status.EXPIRED)
        drafts.classify(draft, record, Event("expired", "Classification Expired", SERVICE))
    await drafts.save()
    return len(rows)
