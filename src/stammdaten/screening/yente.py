"""Asks a yente server whom a party resembles, and reads its answer with suspicion; knows no store."""

import asyncio
import json
import math
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

import httpx2 as httpx

from stammdaten.screening.countries import country_code
from stammdaten.screening.entries import Entry, written
from stammdaten.screening.matching import Match
from stammdaten.screening.parties import Party
from stammdaten.screening.sources.drafts import Draft, clean
from stammdaten.screening.sources.followthemoney import KINDS, describe
from stammdaten.screening.sources.reading import Reading

_OK = 200
_MOST_BYTES = 5 * 1024**2
# For each result asked for yente scores ten candidates, so that more cost time; old servers give no more than these.
_MOST_RESULTS = 10
_MOST_VALUES = 200
_MOST_FEATURES = 50
_LONGEST_VALUE = 1_000
_LONGEST_ID = 255
_DATASET = re.compile(r"[A-Za-z0-9_-]{1,100}")
_KEY = re.compile(r"[\x21-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class YenteServer:
    """Where the server is and which of its datasets to ask; `timeout` is in seconds, for the whole answer.

    A server of one's own knows no keys; that of OpenSanctions wants one.
    """

    url: str
    dataset: str = "default"
    timeout: float = 10
    api_key: str = field(default="", repr=False)


class NotAnswered(Exception):  # noqa: N818 - a refusal, not an error of the service
    """The party was not checked; `str()` of it is the sentence for the operator: the host and why, nothing secret."""


class _Unreadable(Exception):  # noqa: N818 - what is unreadable, in words
    """A part of the answer is not what yente answers."""


async def ask(server: YenteServer, party: Party, *, least: float, client: httpx.AsyncClient) -> list[Match]:
    """Ask for the entries that a party resembles with a score of at least `least`, best first, by `POST /match`.

    The answer is taken as a whole or not at all: a match that cannot be read must not make a party look clean.

    :raises NotAnswered: if the party has no name, or the server is misconfigured, away or slow, refuses, or answers
        with more than 5 MiB or with what is no answer of yente.
    """
    url = _checked_url(server)
    if not clean(party.name):
        raise NotAnswered("There is no name to ask for.")
    query_id = f"query-{uuid.uuid4().hex}"
    try:
        async with asyncio.timeout(server.timeout):
            body = await _post(server, url, _question(party, query_id), least=least, client=client)
    except (TimeoutError, httpx.TimeoutException):
        _refuse(url, f"did not answer within {server.timeout:g} seconds")
    except (httpx.HTTPError, httpx.StreamError, OSError):
        # Its own words stay inside: they may quote a header, and so the key.
        _refuse(url, "cannot be reached, or broke off")
    try:
        matches = list(_matches(_parsed(body), query_id, source=f"yente:{server.dataset}"))
    except _Unreadable as found:
        _refuse(url, f"answers with what cannot be used: {found}")
    best = {match.entry_id: match for match in sorted(matches, key=lambda match: match.score) if match.score >= least}
    return sorted(best.values(), key=lambda match: (-match.score, match.entry_id))


def _refuse(url: httpx.URL, why: str) -> NoReturn:
    raise NotAnswered(f"The yente server {url.raw_host.decode('ascii')} {why}.") from None


def _checked_url(server: YenteServer) -> httpx.URL:
    try:
        url = httpx.URL(f"{server.url.rstrip('/')}/match/{server.dataset}")
    except httpx.InvalidURL:
        raise NotAnswered("The URL of the yente server is no URL.") from None
    if url.scheme not in {"http", "https"} or not url.raw_host or url.query or url.fragment:
        raise NotAnswered("The URL of the yente server must be http or https, with a host and without a query.")
    if not _DATASET.fullmatch(server.dataset):
        _refuse(url, "cannot be asked: the dataset's name may hold letters, digits, - and _ alone")
    if not _KEY.fullmatch(server.api_key):
        _refuse(url, "cannot be asked: the key holds characters that no key holds")
    return url


def _question(party: Party, query_id: str) -> dict[str, Any]:
    """Return the party as an example of a FollowTheMoney entity.

    The example's id is new each time: the scorer remembers by it what it found out about a name, and would go on
    with the old name of a contact that was renamed.
    """
    is_person = bool(party.first_name.strip() or party.gender)
    said = {
        "name": party.name,
        "firstName": party.first_name if is_person else "",
        "lastName": party.last_name if is_person else "",
        "gender": party.gender,
        "country": country_code(party.country).lower() or party.country,
        "address": ", ".join(filter(None, (party.street, f"{party.postal_code} {party.city}".strip(), party.country))),
    }
    properties = {name: [cleaned] for name, value in said.items() if (cleaned := clean(value))}
    schema = "Person" if is_person else "LegalEntity"
    return {"queries": {query_id: {"id": query_id, "schema": schema, "properties": properties}}}


async def _post(
    server: YenteServer, url: httpx.URL, question: dict[str, Any], *, least: float, client: httpx.AsyncClient
) -> bytes:
    headers = {"Authorization": f"ApiKey {server.api_key}"} if server.api_key else {}
    # Servers before 5.0 go by `cutoff` for what they return at all, the others by `threshold`. The algorithm is the
    # server's choice: whoever runs it has set its default.
    params = {"threshold": least, "cutoff": least, "limit": _MOST_RESULTS}
    async with client.stream(
        "POST", url, params=params, json=question, headers=headers, timeout=server.timeout, follow_redirects=False
    ) as response:
        if response.status_code != _OK:
            _refuse(url, f"answers with status {response.status_code}")
        body = bytearray()
        # Compressed answers come unfolded, in pieces of 1 MiB at most.
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                _refuse(url, f"answers with more than {_MOST_BYTES:,} bytes")
    return bytes(body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    # A number of a million digits is the one, a list in a list in a list ten thousand times the other.
    except (ValueError, RecursionError):
        raise _Unreadable("it is no JSON") from None


def _refuse_constant(name: str) -> NoReturn:
    # Python's parser takes NaN and Infinity, which are no JSON and compare as nobody expects.
    raise ValueError(name)


def _matches(answer: Any, query_id: str, *, source: str) -> Iterator[Match]:
    response = _part(_part(answer, "responses", dict), query_id, dict, called="the query")
    if response.get("status", _OK) != _OK:
        raise _Unreadable("the status of the query is not 200")
    for result in _part(response, "results", list):
        entry_id = _part(result, "id", str)
        if not entry_id or entry_id != clean(entry_id) or len(entry_id) > _LONGEST_ID:
            raise _Unreadable("an id is empty, too long, or holds characters that do not show")
        score = _number(result.get("score"))
        if score is None or not 0 <= score <= 1:
            raise _Unreadable("a score is no number from 0 to 1")
        entry = _entry(result, entry_id)
        name = entry.names[0].text if entry.names else entry_id
        yield Match(
            source=source,
            entry_id=entry_id,
            name=name,
            matched_name=_matched_name(result, entry) or name,
            score=score,
            features=_features(result),
            document=written(entry),
        )


def _part(given: Any, name: str, kind: type, *, called: str = "") -> Any:
    part = given.get(name) if isinstance(given, dict) else None
    if not isinstance(part, kind):
        raise _Unreadable(f"{called or name} is missing, or something else")
    return part


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _texts(properties: Any, *names: str) -> Iterator[str]:
    """Return what properties say in words; linked entities among the values and giant texts are passed over."""
    for name in names:
        values = properties.get(name) if isinstance(properties, dict) else None
        for value in values[:_MOST_VALUES] if isinstance(values, list) else [values]:
            if isinstance(value, str) and len(value) <= _LONGEST_VALUE:
                yield value


def _entry(result: dict[str, Any], entry_id: str) -> Entry:
    properties = result.get("properties")
    draft = Draft(Reading(lambda _: iter(())), entry_id, KINDS.get(clean(next(_texts(result, "schema"), "")), ""))
    draft.add_names(*_texts(result, "caption"))
    describe(draft, partial(_texts, properties))
    draft.add_programs(*_texts(properties, "topics"))
    # Other schemes could run code where the link is shown.
    links = (link for link in _texts(properties, "sourceUrl") if link.startswith(("https://", "http://")))
    draft.url = next(links, "")
    entry = draft.entry(nameless=True)
    if entry is None:
        raise _Unreadable("an entry has nothing to call it by")
    return entry


def _explanations(result: dict[str, Any]) -> dict[str, Any]:
    explanations = result.get("explanations")
    return explanations if isinstance(explanations, dict) else {}


def _matched_name(result: dict[str, Any], entry: Entry) -> str:
    """Return the name of the entry that made the score, where the server tells; else nothing."""
    names = {name.text for name in entry.names}
    told = [
        (_number(explanation.get("score")) or 0.0, name)
        for explanation in _explanations(result).values()
        if isinstance(explanation, dict)
        for name in map(clean, _texts(explanation, "candidate"))
        if name in names
    ]
    return max(told, default=(0.0, ""))[1]


def _features(result: dict[str, Any]) -> dict[str, float]:
    """Return the scorer's features, of older servers from `features`; those that added nothing are left out."""
    told: dict[str, Any] = {
        name: explanation.get("score")
        for name, explanation in _explanations(result).items()
        if isinstance(explanation, dict)
    }
    older = result.get("features")
    if not told and isinstance(older, dict):
        told = older
    numbers = ((clean(name), _number(value)) for name, value in list(told.items())[:_MOST_FEATURES])
    return {name: number for name, number in numbers if number and 0 < len(name) <= _LONGEST_ID}
