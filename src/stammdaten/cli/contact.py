"""`stammdaten contact`: address books in, matches and decisions, and the history that the interface does not show."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from stammdaten.app import yente_server
from stammdaten.auth.callers import Caller
from stammdaten.auth.queries import member_by_name
from stammdaten.cli.running import OPERATOR, Prefix, check_file, in_instance, noun, number_of, printable, say, write_in
from stammdaten.contacts.deciding import Decision, decide_matches
from stammdaten.contacts.importing import import_contacts
from stammdaten.contacts.purging import purge_history
from stammdaten.contacts.queries import review_queue
from stammdaten.history.queries import records_of
from stammdaten.refusals import NotAllowed, NotFound
from stammdaten.screening.current import Screening
from stammdaten.screening.shapes import OPEN
from stammdaten.settings import read_settings
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


@app.command("import")
def import_(
    prefix: Prefix,
    file: Annotated[
        Path, typer.Argument(help="CSV: UTF-8, semicolons, field names in the first line.", readable=False)
    ],
) -> None:
    """Create or update contacts from an address book; prints line, uid, outcome and status, separated by tabs."""
    refused = 0

    async def run(store: Store, instance_id: int) -> None:
        nonlocal refused
        caller = Caller(instance_id, prefix, 0, OPERATOR, frozenset())
        screening = Screening(store, yente_server(read_settings()))
        await screening.bring_up_to_date()
        with file.open(encoding="utf-8-sig", newline="") as opened:
            async for line in import_contacts(store, screening, caller, opened):
                refused += line.outcome == "refused"
                say(f"{line.number}\t{printable(line.contact_uid)}\t{line.outcome}\t{printable(line.said)}")
        screening.close()

    check_file(file)
    in_instance(prefix, run)
    if refused:
        raise NotAllowed(f"{number_of(refused, 'line was', 'lines were')} refused.")


@app.command()
def matches(
    prefix: Prefix,
    is_open: Annotated[  # noqa: FBT002 - an option
        bool, typer.Option("--open", help="Only what waits for a decision; then exit code 1, if there is any.")
    ] = False,
) -> None:
    """Print contacts with matches, and all of the watchlist, which come first; a match a line as JSON."""
    waiting = 0

    async def run(store: Store, instance_id: int) -> None:
        nonlocal waiting
        async with store.reading(instance_id, slow=True) as read:
            async for contact in review_queue(read, only_open=is_open):
                shown = [match for match in contact["matches"] if not is_open or match["decision"] == OPEN]
                waiting += sum(match["decision"] == OPEN for match in shown)
                named = {name: contact[name] for name in ("contact_uid", "full_name", "status", "is_watchlist")}
                for match in shown or [None]:
                    say(json.dumps({**named, "match": match}, ensure_ascii=False))

    in_instance(prefix, run)
    if is_open and waiting:
        raise NotAllowed(f"{number_of(waiting, 'match waits', 'matches wait')} for a decision.")


@app.command()
def decide(  # noqa: PLR0913, PLR0917 - what a decision is
    prefix: Prefix,
    contact_uid: ContactUid,
    match_id: Annotated[int, typer.Argument(help="The match's id, as 'contact matches' shows it.")],
    decision: Annotated[str, typer.Argument(help="confirmed, rejected, or open to take a decision back.")],
    comment: Annotated[str, typer.Option("--comment", help="Why; required.")],
    user: Annotated[str, typer.Option("--user", help="Who decides: a user of the instance.")] = OPERATOR,
) -> None:
    """Decide whether a contact is the party that a list names; prints the contact's status."""
    document = in_instance(prefix, lambda store, at: _decide(store, at, contact_uid, match_id, decision, comment, user))
    say(json.loads(document)["status"])


async def _decide(  # noqa: PLR0913, PLR0917 - what a decision is
    store: Store, instance_id: int, contact_uid: str, match_id: int, decision: str, comment: str, user: str
) -> bytes:
    if user != OPERATOR:
        async with store.reading(instance_id) as read:
            await member_by_name(read, user)
    row = Decision(contact_uid.strip(), match_id, decision, comment, user)
    document: bytes = await store.submit(instance_id, decide_matches, row)
    return document
