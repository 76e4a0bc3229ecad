"""Who of the contacts is checked, and the check that a request waits for before it writes."""

from collections.abc import Iterable, Sequence

from stammdaten.contacts.queries import contacts_by_uid
from stammdaten.contacts.shapes import IDENTIFYING, Contact, Given
from stammdaten.screening.current import Screening
from stammdaten.screening.parties import Party
from stammdaten.screening.queries import KeptMatch, matches_of
from stammdaten.screening.shapes import CONFIRMED, Check, Subject
from stammdaten.store import Store


def party_of(contact: Contact) -> Party:
    """Return what of a contact is compared."""
    return Party(
        first_name=contact.first_name,
        last_name=contact.last_name,
        gender=contact.gender or "",
        street=contact.street,
        postal_code=contact.postal_code,
        city=contact.city,
        country=contact.country_or_region,
    )


def subject_of(contact: Contact, kept: Iterable[KeptMatch]) -> Subject:
    """Return whom to check, and the entries it must be held against in any case."""
    return Subject(contact.contact_uid, party_of(contact), _confirmed(kept))


async def checks_of_new(screening: Screening, instance_id: int, given: Sequence[Given]) -> list[Check]:
    """Check contacts that are to be created."""
    drafts = [Contact(0, one.contact_uid, "", "", **one.values) for one in given]
    return await screening.check(instance_id, [subject_of(draft, ()) for draft in drafts])


async def checks_of_updates(
    store: Store, screening: Screening, instance_id: int, given: Sequence[Given]
) -> list[Check | None]:
    """Check contacts as they will be; None for those that need no check, and those that do not exist."""
    identifying = {one.contact_uid for one in given if IDENTIFYING & one.values.keys()}
    if not identifying:
        return [None] * len(given)
    async with store.reading(instance_id) as read:
        found = await contacts_by_uid(read, identifying)
        kept = await matches_of(read, [contact.id for contact in found.values()])
    subjects: dict[int, Subject] = {}
    for place, one in enumerate(given):
        contact = found.get(one.contact_uid)
        if contact is not None and party_of(after := contact._replace(**one.values)) != party_of(contact):
            subjects[place] = subject_of(after, kept.get(contact.id, ()))
    checks = await screening.check(instance_id, list(subjects.values())) if subjects else []
    by_place = dict(zip(subjects, checks, strict=True))
    return [by_place.get(place) for place in range(len(given))]


def _confirmed(kept: Iterable[KeptMatch]) -> frozenset[tuple[str, str]]:
    return frozenset((match.source, match.entry_id) for match in kept if match.decision == CONFIRMED)
