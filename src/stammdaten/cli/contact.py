"""`stammdaten contact`: the history of contacts, which the interface does not show."""

import json
from typing import Annotated, Any

import typer

from stammdaten.cli.running import Prefix, in_instance, noun, say, write_in
from stammdaten.contacts.purging import purge_history
from stammdaten.history.queries import records_of
from stammdaten.refusals import NotFound
from stammdaten.store import Store

app = noun("Contacts.")

ContactUid = Annotated[str, typer.Argument(help="The contact's uid.")]


@app.command()
def history(prefix: Prefix, contact_uid: ContactUid) -> None:
    """Print the history records under a uid, newest first, one a line as JSON; deleted contacts' too."""

    async def read_all(store: Store, instance_id: int) -> list[tuple[Any, ...]]:
        async with store.reading(instance_id) as read:
            return await records_of(read, contact_uid.strip())

    records = in_instance(prefix, read_all)
    if not records:
        raise NotFound("There is no history under this contact_uid.")
    for category, text, user_name, at, contact in records:
        shown = {"category": category, "text": text, "user_name": user_name, "at": at}
        say(json.dumps({**shown, "contact": json.loads(contact)}, ensure_ascii=False))


@app.command()
def purge(prefix: Prefix, contact_uid: ContactUid) -> None:
    """Remove for good the history of deleted contacts of this uid; prints how many records."""
    say(write_in(prefix, lambda write: purge_history(write, contact_uid.strip())))
