"""The client of yente, against a stand-in on loopback that answers in yente's format, rightly and wrongly.

The stand-in keeps what it was asked. What it answers is made up here, in the form of yente's `POST /match/{dataset}`.
"""

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import httpx2 as httpx
import pytest

from stammdaten.screening.entries import Entry, Name, read_entry
from stammdaten.screening.matching import Match
from stammdaten.screening.parties import Party
from stammdaten.screening.yente import NotAnswered, YenteServer, ask

Body = dict[str, Any]
Answer = Callable[[str], bytes]

SECRET = "hunter2"
PATIENCE = 60
ANNA = Party("Anna", "Beispiel", "female", "Hauptstr. 1", "10115", "Berlin", "Deutschland")
WORKS = Party(last_name="Beispielwerke AG")

ENTITY: Body = {
    "id": "NK-made-up",
    "caption": "Anna Beispiel",
    "schema": "Person",
    "properties": {
        "name": ["Anna Beispiel", "Анна Байшпиль"],
        "weakAlias": ["Die Chefin"],
        "gender": ["female"],
        "birthDate": ["1971-02-03", "1972"],
        "nationality": ["ru"],
        "country": ["gb-sct", "de", "suhh"],
        "address": ["Hauptstr. 1, Berlin"],
        "passportNumber": ["X 123"],
        "topics": ["sanction"],
        "programId": ["EU-EXAMPLE"],
        "sourceUrl": ["javascript:alert(1)", "https://lists.example/anna"],
        "position": [{"id": "P1", "caption": "Head", "schema": "Position", "properties": {}}],
    },
    "datasets": ["eu_made_up"],
    "referents": [],
    "target": True,
    "score": 0.93,
    "match": True,
    "features": {"logic_score": 0.1},
    "explanations": {
        "name_match": {"score": 0.98, "detail": "by letter", "query": "anna beispiel", "candidate": "Анна Байшпиль"},
        "country_mismatch": {"score": 0.0, "detail": None, "query": None, "candidate": None},
        "gender_match": {"score": 0.5, "detail": None},
    },
}


def result(**changes: Any) -> Body:
    """The entity, with changes; what is changed to None is missing."""
    return {name: value for name, value in (ENTITY | changes).items() if value is not None}


def answering(*results: Any) -> Answer:
    """Answer as yente does."""

    def answer(query_id: str) -> bytes:
        found = {"status": 200, "results": list(results), "total": {"value": len(results), "relation": "eq"}}
        return http(json.dumps({"responses": {query_id: found}, "limit": 10}).encode())

    return answer


def http(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """Put a body into an answer."""
    head = (f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *lines, "", "")
    return "\r\n".join(head).encode() + body


def saying(answer: bytes) -> Answer:
    """Answer with these bytes, whatever is asked."""
    return lambda _: answer


class StandIn:
    """A yente server that has one answer."""

    def __init__(self, answer: Answer | None) -> None:
        self._answer = answer
        self._talks: set[asyncio.Task[None]] = set()
        self.heads: list[bytes] = []
        self.questions: list[Body] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take_call, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await self._server.wait_closed()

    def _take_call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.create_task(self._serve(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split()[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-le")
            )
            question = json.loads(await reader.readexactly(length))
            self.heads.append(head)
            self.questions.append(question)
            if self._answer is None:
                await asyncio.Event().wait()
            else:
                writer.write(self._answer(next(iter(question["queries"]))))
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


def asked(
    answer: Answer | None, party: Party = ANNA, *, least: float = 0.7, **server: Any
) -> tuple[list[Match], StandIn]:
    """Ask a stand-in once."""

    async def run() -> tuple[list[Match], StandIn]:
        async with StandIn(answer) as stand_in, httpx.AsyncClient(trust_env=False) as client:
            yente = replace(YenteServer(url=stand_in.url, timeout=PATIENCE), **server)
            return await ask(yente, party, least=least, client=client), stand_in

    return asyncio.run(run())


def refusal_of(answer: Answer | None, **server: Any) -> str:
    """Return the sentence of a refused answer."""
    with pytest.raises(NotAnswered) as refused:
        asked(answer, **server)
    assert SECRET not in str(refused.value)
    return str(refused.value)


class TestQuestion:
    """What the server is asked."""

    def test_of_a_person(self) -> None:
        _, stand_in = asked(answering(), least=0.8)

        ((query_id, example),) = stand_in.questions[0]["queries"].items()
        assert stand_in.heads[0].startswith(b"POST /match/default?threshold=0.8&cutoff=0.8&limit=10 HTTP/1.1\r\n")
        assert b"authorization" not in stand_in.heads[0].lower()
        assert example == {
            "id": query_id,
            "schema": "Person",
            "properties": {
                "name": ["Anna Beispiel"],
                "firstName": ["Anna"],
                "lastName": ["Beispiel"],
                "gender": ["female"],
                "country": ["de"],
                "address": ["Hauptstr. 1, 10115 Berlin, Deutschland"],
            },
        }

    def test_of_what_may_be_a_company(self) -> None:
        _, stand_in = asked(answering(), WORKS)

        (example,) = stand_in.questions[0]["queries"].values()
        assert example["schema"] == "LegalEntity"
        assert example["properties"] == {"name": ["Beispielwerke AG"]}

    def test_with_a_country_as_typed_when_nobody_knows_it(self) -> None:
        _, stand_in = asked(answering(), Party(last_name="Anna", country="Utopia"))

        (example,) = stand_in.questions[0]["queries"].values()
        assert example["properties"]["country"] == ["Utopia"]

    def test_has_an_id_that_was_never_used(self) -> None:
        async def run() -> list[Body]:
            async with StandIn(answering()) as stand_in, httpx.AsyncClient(trust_env=False) as client:
                for party in (ANNA, ANNA, WORKS):
                    await ask(YenteServer(url=stand_in.url), party, least=0.7, client=client)
                return stand_in.questions

        ids = {query_id for question in asyncio.run(run()) for query_id in question["queries"]}

        assert len(ids) == 3

    def test_goes_to_the_dataset_with_the_key(self) -> None:
        _, stand_in = asked(answering(), dataset="eu_fsf", api_key=SECRET)

        assert stand_in.heads[0].startswith(b"POST /match/eu_fsf?")
        assert f"Authorization: ApiKey {SECRET}\r\n".encode() in stand_in.heads[0]

    def test_goes_below_the_path_of_the_url(self) -> None:
        async def run() -> bytes:
            async with StandIn(answering()) as stand_in, httpx.AsyncClient(trust_env=False) as client:
                await ask(YenteServer(url=f"{stand_in.url}/yente/"), ANNA, least=0.7, client=client)
                return stand_in.heads[0]

        assert asyncio.run(run()).startswith(b"POST /yente/match/default?")

    def test_is_not_put_without_a_name(self) -> None:
        with pytest.raises(NotAnswered, match=r"^There is no name to ask for\.$"):
            asked(answering(), Party(city="Berlin", last_name=" \x00"))


class TestMatches:
    """What an answer says."""

    def test_are_read(self) -> None:
        (match,), _ = asked(answering(ENTITY))

        assert match._replace(document="") == Match(
            source="yente:default",
            entry_id="NK-made-up",
            name="Anna Beispiel",
            matched_name="Анна Байшпиль",
            score=0.93,
            features={"name_match": 0.98, "gender_match": 0.5},
            document="",
        )
        assert read_entry(match.document) == Entry(
            entry_id="NK-made-up",
            names=(Name("Anna Beispiel"), Name("Анна Байшпиль", "original"), Name("Die Chefin", "weak")),
            kind="person",
            gender="female",
            birth_years=(1971, 1972),
            nationalities=("RU",),
            countries=("GB", "DE"),
            addresses=("Hauptstr. 1, Berlin",),
            identifiers=("X 123",),
            programs=("EU-EXAMPLE", "sanction"),
            url="https://lists.example/anna",
        )

    def test_are_none_when_nothing_resembles(self) -> None:
        assert asked(answering())[0] == []

    def test_come_best_first_once_each_and_not_below_the_least(self) -> None:
        results = [
            result(id="b", score=0.8),
            result(id="too-low", score=0.69),
            result(id="a", score=0.8),
            result(id="twice", score=0.75),
            result(id="twice", score=1),
        ]

        matches, _ = asked(answering(*results))

        assert [(match.entry_id, match.score) for match in matches] == [("twice", 1.0), ("a", 0.8), ("b", 0.8)]

    def test_of_an_older_server_have_its_features(self) -> None:
        (match,), _ = asked(answering(result(explanations=None, features={"name_literal": 1, "gender_disjoint": 0.0})))

        assert match.features == {"name_literal": 1.0}
        assert match.matched_name == "Anna Beispiel"

    @pytest.mark.parametrize(
        "missing", ["caption", "schema", "properties", "datasets", "match", "features", "explanations"]
    )
    def test_are_read_without_what_may_be_missing(self, missing: str) -> None:
        (match,), _ = asked(answering(result(**{missing: None})))

        assert match.score == 0.93

    def test_without_any_name_are_called_by_their_id(self) -> None:
        (match,), _ = asked(answering(result(caption=None, properties={})))

        assert (match.name, match.matched_name) == ("NK-made-up", "NK-made-up")
        assert read_entry(match.document).names == ()

    @pytest.mark.parametrize("junk", [None, 7, "text", [], {}, [[[]]], [None, 7, {"name": ["x"]}], True])
    def test_survive_junk_in_what_is_not_needed(self, junk: Any) -> None:
        properties = dict.fromkeys(ENTITY["properties"], junk)
        parts = ("caption", "schema", "datasets", "features", "explanations")

        for changes in ({"properties": properties}, dict.fromkeys(parts, junk), {"properties": junk}):
            (match,), _ = asked(answering(ENTITY | changes))
            assert read_entry(match.document).entry_id == "NK-made-up"

    @pytest.mark.parametrize("junk", [None, 7, "text", [], {"score": "high", "candidate": 7}, {"score": True}])
    def test_survive_junk_in_the_explanations(self, junk: Any) -> None:
        (match,), _ = asked(answering(result(explanations={"name_match": junk})))

        assert (match.features, match.matched_name) in [({}, "Anna Beispiel"), ({"logic_score": 0.1}, "Anna Beispiel")]

    def test_hold_nothing_that_a_database_or_a_terminal_would_stumble_over(self) -> None:
        evil = "Anna\x00 \ud800\x1b[31m\u202e Evil\nName"

        (match,), _ = asked(
            answering(
                result(
                    caption=evil,
                    properties={"name": [evil], "address": [evil], "topics": [evil]},
                    explanations={evil: {"score": 1.0, "candidate": evil}},
                )
            )
        )

        assert match.name == match.matched_name == "Anna [31m Evil Name"
        for text in (match.document, *match.features):
            text.encode()
            assert text.isprintable()

    def test_keep_no_giant_values(self) -> None:
        many = [f"Name {number}" for number in range(10_000)]

        (match,), _ = asked(answering(result(properties={"name": [*many, "x" * 1001], "address": ["x" * 100_000]})))

        assert len(match.document) < 10_000


class TestRefusals:
    """An answer that cannot be trusted is none: nobody becomes clean by it."""

    @pytest.mark.parametrize("status", ["201 Created", "302 Found", "400 Bad", "401 No", "404 Gone", "500 Oh", "503 X"])
    def test_another_status(self, status: str) -> None:
        answer = saying(http(b'{"detail": "hunter2"}', "Location: http://127.0.0.1:9/", status=status))

        assert refusal_of(answer) == f"The yente server 127.0.0.1 answers with status {status[:3]}."

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"<html>",
            b"\xff\xfe\x00",
            b'{"responses": {}',
            b"[" * 100_000,
            b"9" * 100_000,
            b'{"responses": NaN}',
            b'{"x": Infinity}',
        ],
    )
    def test_what_is_no_json(self, body: bytes) -> None:
        sentence = refusal_of(saying(http(body)))

        assert sentence == "The yente server 127.0.0.1 answers with what cannot be used: it is no JSON."

    @pytest.mark.parametrize(
        "body",
        [b"null", b"[]", b"7", b'"x"', b"{}", b'{"responses": []}', b'{"responses": {"other": {"results": []}}}'],
    )
    def test_json_that_is_no_answer(self, body: bytes) -> None:
        assert "cannot be used" in refusal_of(saying(http(body)))

    @pytest.mark.parametrize(
        "said", [None, [], {}, {"results": {}}, {"results": None}, {"status": 500, "results": []}, {"status": 200}]
    )
    def test_an_answer_without_results(self, said: Any) -> None:
        def answer(query_id: str) -> bytes:
            return http(json.dumps({"responses": {query_id: said}}).encode())

        assert "cannot be used" in refusal_of(answer)

    @pytest.mark.parametrize("junk", [None, 7, "text", [], {}, True])
    def test_a_result_that_is_none(self, junk: Any) -> None:
        assert "cannot be used" in refusal_of(answering(ENTITY, junk))

    @pytest.mark.parametrize("entry_id", [None, "", 7, ["x"], " x", "a\x00b", "\ud800", "x" * 256])
    def test_an_id_that_is_none(self, entry_id: Any) -> None:
        assert "cannot be used" in refusal_of(answering(result(id=entry_id)))

    @pytest.mark.parametrize("score", [None, "0.9", True, [], -0.1, 1.5, float("nan"), float("inf"), 10**400])
    def test_a_score_that_is_none(self, score: Any) -> None:
        assert "cannot be used" in refusal_of(answering(result(score=score)))

    def test_a_score_beyond_all_numbers(self) -> None:
        def answer(query_id: str) -> bytes:
            return http(b'{"responses": {"%s": {"results": [{"id": "x", "score": 1e999}]}}}' % query_id.encode())

        assert "a score is no number from 0 to 1" in refusal_of(answer)

    def test_an_answer_over_the_limit(self) -> None:
        sentence = refusal_of(saying(http(b" " * (5 * 1024**2 + 1))))

        assert sentence == "The yente server 127.0.0.1 answers with more than 5,242,880 bytes."

    def test_a_few_bytes_that_unfold_over_the_limit(self) -> None:
        bomb = gzip.compress(b" " * 50 * 1024**2)

        sentence = refusal_of(saying(http(bomb, "Content-Encoding: gzip")))

        assert sentence == "The yente server 127.0.0.1 answers with more than 5,242,880 bytes."

    @pytest.mark.parametrize("said", [b"", b"?\r\n\r\n", http(b"{}")[:-1], http(b"{}", "Content-Encoding: gzip")])
    def test_a_server_that_breaks_off(self, said: bytes) -> None:
        assert refusal_of(saying(said)) == "The yente server 127.0.0.1 cannot be reached, or broke off."

    def test_a_server_that_does_not_answer(self) -> None:
        sentence = refusal_of(None, timeout=0.05, api_key=SECRET)

        assert sentence == "The yente server 127.0.0.1 did not answer within 0.05 seconds."

    def test_a_server_that_is_away(self) -> None:
        async def run() -> None:
            async with StandIn(None) as gone:
                pass
            async with httpx.AsyncClient(trust_env=False) as client:
                await ask(YenteServer(url=gone.url), ANNA, least=0.7, client=client)

        with pytest.raises(NotAnswered, match=r"^The yente server 127\.0\.0\.1 cannot be reached, or broke off\.$"):
            asyncio.run(run())

    @pytest.mark.parametrize(
        "url",
        ["", "yente.example", "ftp://yente.example", "http://", "http://[::1", "http://yente.example/?key=hunter2"],
    )
    def test_a_url_that_is_none(self, url: str) -> None:
        assert "URL of the yente server" in refusal_of(answering(), url=url)

    @pytest.mark.parametrize("dataset", ["", "../entities", "a/b", "a?b", "a b", "ü", "x" * 101])
    def test_a_dataset_that_would_lead_elsewhere(self, dataset: str) -> None:
        assert refusal_of(answering(), dataset=dataset).startswith("The ")

    @pytest.mark.parametrize("key", [f"{SECRET}\r\nX: y", f"{SECRET}ü", f"{SECRET} x"])
    def test_a_key_that_would_break_out_of_its_header(self, key: str) -> None:
        assert refusal_of(answering(), api_key=key).endswith("the key holds characters that no key holds.")


class TestYenteServer:
    """The settings of a server."""

    def test_does_not_show_its_key(self) -> None:
        assert SECRET not in repr(YenteServer(url="http://yente.example", api_key=SECRET))
