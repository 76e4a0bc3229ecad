"""Who may do what: tokens, prefixes, roles, and that two instances never meet.

The tables go over every route of `openapi/v1.yaml`: one that is added there is held to them at once.
"""

# Over 300 lines: its tables share the routes of the contract and one picture of an instance.

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
import pytest

from stammdaten.auth import operations as auth
from stammdaten.classification.rules import Classification
from stammdaten.products.standing import (
    Archiving,
    Classifying,
    Deed,
    archive_products,
    classify_products,
    delete_products,
)
from stammdaten.store import Store, Write
from stammdaten.store.doors import READ_CLOCK
from tests.cast import Member, Service, found_product, make_contact, make_list, make_product
from tests.contract import contract

METHODS = ("get", "post", "put", "delete")
PATHS: dict[str, Any] = {
    path.removeprefix("/api/{prefix}/v1"): item
    for path, item in contract()["paths"].items()
    if path.startswith("/api/{prefix}/v1")
}
ROUTES = [(method.upper(), path) for path, item in PATHS.items() for method in METHODS if method in item]
CONTACT_ROUTES = [(method, path) for method, path in ROUTES if path.startswith("/contacts")]
NO_TOKEN = "A Bearer token is required."
# Whatever was taken away no longer works anywhere after so many seconds (decisions: Words).
LONGEST_MEMORY = 2
WRONG_PREFIX = "This token is not for this prefix."


def refusal(path: str, text: str) -> dict[str, str]:
    """Return the body that a path refuses with."""
    return {"message" if path.startswith("/contacts") else "reason": text}


def concrete(path: str) -> str:
    """Return a path of the contract that names the contact K-1, the list every member has, or no import."""
    return path.replace("{contact_uid}", "K-1").replace("{slug}", "spare-parts").replace("{import_id}", "1")


def send(service: Service, method: str, path: str, *, prefix: str, **given: Any) -> httpx.Response:
    """Send a request that is good but for what the test is about."""
    query = {"timestamp": "1970-01-01"} if path == "/products" and method == "GET" else None
    return service.request(method, f"/api/{prefix}/v1{concrete(path)}", params=query, **given)


def everything(member: Member) -> list[Any]:
    """Return all that an instance holds: each list as it is answered, and the clock, which every change moves."""

    async def clock(store: Store) -> list[Any]:
        async with store.reading(member.instance_id) as read:
            return [tuple(row) for row in await read.rows(READ_CLOCK)]

    paths = ["/lists", "/contacts?per_page=500", "/contacts?per_page=500&is_archived=true"]
    paths += [f"/products?timestamp=1970-01-01&{flag}=true" for flag in ("include_archived", "deleted")]
    answers = [member.request("GET", path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [*(answer.json() for answer in answers), member.service.run(clock)]


def fill(member: Member) -> None:
    """Make one of everything in an instance."""
    for number in ("A-1", "archived", "deleted"):
        make_product(member, number, vendor=f"Secret of {member.name}")
    record = Classification(type="special", ctn="99050000", comment=f"Secret of {member.name}")
    member.submit(classify_products, Classifying("A-1", member.name, record))
    member.submit(archive_products, Archiving("archived", member.name, is_archived=True))
    member.submit(delete_products, Deed("deleted", member.name))
    make_contact(member, "K-1", city=f"Secret of {member.name}")
    make_contact(member, "archived", is_archived=True)


# Authorization headers that are no good, made of one that is.
BAD_HEADERS: dict[str, Callable[[str], list[str]]] = {
    "none": lambda _: [],
    "empty": lambda _: [""],
    "scheme alone": lambda _: ["Bearer"],
    "blanks": lambda _: ["Bearer   "],
    "token alone": lambda token: [token],
    "another scheme": lambda token: [f"Basic {token}"],
    "a scheme that begins alike": lambda token: [f"Bearers {token}"],
    "colon": lambda token: [f"Bearer: {token}"],
    "tab": lambda token: [f"Bearer\t{token}"],
    "scheme doubled": lambda token: [f"Bearer Bearer {token}"],
    "token doubled": lambda token: [f"Bearer {token} {token}"],
    "token glued to itself": lambda token: [f"Bearer {token}{token}"],
    "header doubled": lambda token: [f"Bearer {token}", f"Bearer {token}"],
    "header and an empty one": lambda token: [f"Bearer {token}", ""],
    "header and a wrong one": lambda token: ["Basic YTpi", f"Bearer {token}"],
    "comma": lambda token: [f"Bearer {token},"],
    "two in one header": lambda token: [f"Bearer {token}, Bearer {token}"],
    "quoted": lambda token: [f'Bearer "{token}"'],
    "cut": lambda token: [f"Bearer {token[:-1]}"],
    "longer": lambda token: [f"Bearer {token}A"],
    "other case": lambda token: [f"Bearer {token.swapcase()}"],
    "no ASCII": lambda token: [f"Bearer {token}ü"],
    "NUL": lambda token: [f"Bearer {token}\0"],
    "unknown": lambda _: ["Bearer st_" + "A" * 43],
    "of somebody else's making": lambda _: ["Bearer eyJhbGciOiJub25lIn0.e30."],
    "a hash": lambda _: ["Bearer " + "0" * 64],
    "huge": lambda _: ["Bearer " + "x" * 100_000],
    "huge and of our form": lambda _: ["Bearer st_" + "A" * 100_000],
    "huge scheme": lambda token: ["B" * 100_000 + f" {token}"],
    "SQL": lambda _: ["Bearer st_' OR ''='"],
}


def authorization(values: list[str]) -> list[tuple[bytes, bytes]]:
    """Return a header of each value."""
    return [(b"Authorization", value.encode()) for value in values]


def answers(service: Service, prefix: str, values: list[str]) -> dict[tuple[str, str], Any]:
    """Ask every route with these Authorization headers; return status, body and challenge of each."""
    found = {}
    for method, path in ROUTES:
        response = send(service, method, path, prefix=prefix, headers=authorization(values))
        found[method, path] = (response.status_code, response.json(), response.headers.get("www-authenticate"))
    return found


UNAUTHENTICATED = {(method, path): (401, refusal(path, NO_TOKEN), "Bearer") for method, path in ROUTES}


class TestBearer:
    """The token, on every route."""

    @pytest.mark.parametrize("values", BAD_HEADERS.values(), ids=BAD_HEADERS)
    def test_is_required_to_be_good(self, anna: Member, values: Callable[[str], list[str]]) -> None:
        fill(anna)
        before = everything(anna)

        found = answers(anna.service, anna.prefix, values(anna.token))

        assert found == UNAUTHENTICATED
        assert everything(anna) == before

    @pytest.mark.parametrize("header", ["Bearer {}", "bearer {}", "BEARER {}", "bEaReR {}", "Bearer   {} "])
    def test_may_have_its_scheme_in_any_case(self, anna: Member, header: str) -> None:
        given = authorization([header.format(anna.token)])

        response = send(anna.service, "GET", "/lists", prefix=anna.prefix, headers=given)

        assert response.status_code == 200
        assert [each["id"] for each in response.json()["lists"]] == [str(anna.list_id)]

    def test_is_as_good_as_any_other_of_its_user(self, service: Service, anna: Member) -> None:
        second = new_token(anna)

        response = send(service, "GET", "/lists", prefix=anna.prefix, headers=authorization([f"Bearer {second}"]))

        assert second != anna.token
        assert response.status_code == 200

    def test_works_nowhere_two_seconds_after_it_was_revoked(self, service: Service, anna: Member) -> None:
        """Not in this process, nor in another that has it in memory."""
        with Service(service.settings) as other:
            worked = works(service, anna), works(other, anna)
            service.write(anna.instance_id, lambda write: auth.revoke_token(write, token_or_hash=anna.token))

            time.sleep(LONGEST_MEMORY)

            assert worked == (True, True)
            assert answers(service, anna.prefix, [f"Bearer {anna.token}"]) == UNAUTHENTICATED
            assert answers(other, anna.prefix, [f"Bearer {anna.token}"]) == UNAUTHENTICATED

    def test_leaves_others_alone_when_revoked(self, service: Service, anna: Member, no_role: Member) -> None:
        second = new_token(anna)
        service.write(anna.instance_id, lambda write: auth.revoke_token(write, token_or_hash=second))

        found = answers(service, anna.prefix, [f"Bearer {second}"])

        assert found == UNAUTHENTICATED
        assert works(service, anna)
        assert works(service, no_role)

    def test_is_refused_once_it_has_expired(self, service: Service, anna: Member) -> None:
        token = new_token(anna, days=-1)

        found = answers(service, anna.prefix, [f"Bearer {token}"])

        assert found == UNAUTHENTICATED

    def test_expires_though_it_was_used_just_before(self, service: Service, anna: Member) -> None:
        anna.token = new_token(anna, days=5 / 86_400)
        expired_at = time.time() + 5

        asked_at = [time.time()]
        while works(service, anna):
            asked_at.append(time.time())

        *worked, _ = asked_at
        assert worked
        assert worked[-1] < expired_at
        assert answers(service, anna.prefix, [f"Bearer {anna.token}"]) == UNAUTHENTICATED

    def test_is_no_good_while_its_user_is_disabled(self, service: Service, anna: Member, no_role: Member) -> None:
        worked = works(service, anna)
        set_disabled(anna, is_disabled=True)

        time.sleep(LONGEST_MEMORY)

        found = answers(service, anna.prefix, [f"Bearer {anna.token}"])
        set_disabled(anna, is_disabled=False)
        assert worked
        assert found == UNAUTHENTICATED
        assert works(service, no_role)
        assert works(service, anna)

    def test_loses_a_role_that_its_user_loses(self, service: Service, anna: Member) -> None:
        before = anna.get("/contacts").status_code
        service.write(anna.instance_id, lambda write: auth.set_roles(write, name="anna", roles=["clerk"]))

        time.sleep(LONGEST_MEMORY)

        assert (before, anna.get("/contacts").status_code) == (200, 403)


def new_token(member: Member, days: float | None = None) -> str:
    """Issue another token to a member."""
    return member.service.write(
        member.instance_id, lambda write: auth.create_token(write, user_name=member.name, days=days)
    )


def set_disabled(member: Member, *, is_disabled: bool) -> None:
    """Disable a user, or let them in again."""
    member.service.write(
        member.instance_id, lambda write: auth.disable_user(write, name=member.name, disabled=is_disabled)
    )


def works(service: Service, member: Member) -> bool:
    """Whether a member's token is taken."""
    given = authorization([f"Bearer {member.token}"])
    return send(service, "GET", "/lists", prefix=member.prefix, headers=given).status_code == 200


class TestPrefix:
    """A good token on another prefix, on every route."""

    @pytest.mark.parametrize("route", ROUTES, ids=" ".join)
    def test_is_refused_alike_whether_it_exists_or_not(
        self, anna: Member, bruno: Member, route: tuple[str, str]
    ) -> None:
        fill(anna)
        before = everything(anna)
        own = bruno.prefix
        others = [anna.prefix, f"{own}-training", f"{own}-test", "nobody", own.upper(), f"{own} ", own[:-1], "%00", "ü"]
        others += [f"{own}x", "%2e", "%2e%2e", f"{own}%2F", "%ff", "", "x" * 5000]
        given = authorization([f"Bearer {bruno.token}"])

        responses = [send(bruno.service, *route, prefix=prefix, headers=given) for prefix in others]

        expected = refusal(route[1], WRONG_PREFIX)
        assert [(response.status_code, response.json()) for response in responses] == [(403, expected)] * len(others)
        assert {comparable_headers(response) for response in responses} == {comparable_headers(responses[0])}
        assert everything(anna) == before

    def test_of_the_own_account_needs_a_token_of_its_own(self, service: Service, anna: Member) -> None:
        training = f"{anna.prefix}-training"
        instance_id = service.instance_id(training)

        async def join(write: Write) -> str:
            await auth.create_user(write, name="trainee", roles=["api-user"])
            return await auth.create_token(write, user_name="trainee", days=None)

        token = service.write(instance_id, join)
        own, other = (
            send(service, "GET", "/lists", prefix=prefix, headers=authorization([f"Bearer {token}"]))
            for prefix in (training, anna.prefix)
        )

        assert (own.status_code, own.json()) == (200, {"lists": []})
        assert (other.status_code, other.json()) == (403, {"reason": WRONG_PREFIX})


def comparable_headers(response: httpx.Response) -> tuple[tuple[str, str], ...]:
    """Return the headers but the one that differs with each answer."""
    return tuple((name, value) for name, value in response.headers.multi_items() if name != "x-request-id")


class TestContactRole:
    """The role `api-user`, on every route of contacts."""

    @pytest.mark.parametrize(
        "roles", [[], ["client-admin", "extended-clerk", "clerk", "article-processor"], ["auditor"]], ids=" ".join
    )
    @pytest.mark.parametrize("body", [b"", b"{", b'{"contact": {"contact_uid": "K-2", "last_name": "Lindgren"}}'])
    def test_is_required(self, service: Service, anna: Member, roles: list[str], body: bytes) -> None:
        """Before the body or the contact is looked at."""
        fill(anna)
        member = service.colleague(anna, "somebody", roles=roles)
        before = everything(anna)

        responses = [member.request(method, concrete(path), content=body) for method, path in CONTACT_ROUTES]
        responses += [member.request("GET", "/contacts/unknown"), member.request("GET", "/contacts?page=0")]

        assert {response.status_code for response in responses} == {403}
        assert {response.text for response in responses} == {'{"message":"This action needs the role api-user."}'}
        assert everything(anna) == before

    @pytest.mark.parametrize("roles", [["api-user"], ["api-user", "auditor"]], ids=" ".join)
    def test_is_all_that_is_required(self, service: Service, anna: Member, roles: list[str]) -> None:
        member = service.colleague(anna, "somebody", roles=roles)
        make_contact(anna, "K-1")
        contact = {"contact_uid": "K-2", "last_name": "Lindgren"}

        statuses = [
            member.get("/contacts").status_code,
            member.post("/contacts", {"contact": contact}).status_code,
            member.post("/contacts/find", {"contact_uid": "K-1"}).status_code,
            member.get("/contacts/K-1").status_code,
            member.put("/contacts/K-1", {"contact": {"city": "Kiel"}}).status_code,
            member.delete("/contacts/K-1").status_code,
        ]

        assert statuses == [200, 201, 200, 200, 200, 204]


class TestProductRoles:
    """Roles on products and lists."""

    @pytest.mark.parametrize(
        "roles", [["auditor"], ["auditor-internal"], ["auditor", "auditor-internal"]], ids=" ".join
    )
    @pytest.mark.parametrize("article_number", ["A-1", "A-2", "", 5])
    def test_refuse_writing_to_auditors(
        self, service: Service, anna: Member, roles: list[str], article_number: object
    ) -> None:
        """Whether or not the product exists or the body is good."""
        make_product(anna)
        member = service.colleague(anna, "somebody", roles=roles)
        product = {"article_number": article_number, "designation": "Bolt"}
        before = everything(anna)

        created = member.post("/products", {"list_id": anna.list_id, "product": product})
        updated = member.put("/products", {"article_number": article_number, "product": product})

        expected = (403, {"reason": "An auditor may not change products."})
        assert [(response.status_code, response.json()) for response in (created, updated)] == [expected] * 2
        assert everything(anna) == before

    @pytest.mark.parametrize(
        "roles",
        [
            [],
            ["api-user"],
            ["client-admin"],
            ["extended-clerk"],
            ["clerk"],
            ["article-processor"],
            ["auditor", "api-user"],
            ["auditor", "clerk"],
            ["auditor-internal", "article-processor"],
            ["auditor", "auditor-internal", "client-admin"],
        ],
        ids=" ".join,
    )
    def test_allow_writing_to_all_others(self, service: Service, anna: Member, roles: list[str]) -> None:
        member = service.colleague(anna, "somebody", roles=roles)
        product = {"article_number": "A-1", "designation": "Bolt"}

        created = member.post("/products", {"list_id": anna.list_id, "product": product})
        updated = member.put("/products", {"article_number": "A-1", "product": product})

        assert (created.status_code, updated.status_code) == (201, 200)

    @pytest.mark.parametrize("roles", [[], ["auditor"], ["auditor-internal"], ["clerk"], ["api-user"]], ids=" ".join)
    def test_allow_reading_to_all(self, service: Service, anna: Member, roles: list[str]) -> None:
        make_product(anna)
        member = service.colleague(anna, "somebody", roles=roles)

        shown = member.get("/products", timestamp="1970-01-01").json()["products"]

        assert shown == [found_product(member)] == [found_product(anna)]
        assert member.get("/lists").json() == anna.get("/lists").json()


def wrong_methods() -> Iterator[Any]:
    """Yield each path of the contract with each method that it does not take, and those that it takes."""
    for path, item in PATHS.items():
        allowed = {method.upper() for method in METHODS if method in item}
        # The path is also that of a contact whose uid is `find`.
        if path == "/contacts/find":
            allowed |= {"GET", "PUT", "DELETE"}
        allowed |= {"HEAD"} if "GET" in allowed else set()
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
            if method not in allowed:
                yield pytest.param(method, path, allowed, id=f"{method} {path}")


NOWHERE = [
    *("", "/", "/nothing", "/lists/", "/lists/1", "/lists//", "//lists", "/Lists", "/list", "/LISTS", "/%6cists"),
    *("/products/", "/products/1", "/products/find/", "/products/find/1", "/products%2Ffind", "/products.json"),
    *("/contactsx", "/contacts%2FK-1", "/Contacts", "/contact", "/%2e%2e/v1/lists", "/%2e/lists", "/v1/lists", "/%00"),
    *("/contacts/", "/contacts//", "/contacts/K-1/", "/contacts/K-1/notes", "/contacts/find/", "/contacts//K-1"),
]


class TestErrorBody:
    """What a path refuses with: `message` below contacts, `reason` everywhere else."""

    @pytest.mark.parametrize("path", NOWHERE)
    def test_of_an_unknown_path(self, anna: Member, path: str) -> None:
        response = anna.request("GET", path)

        kind = "message" if path.startswith("/contacts/") else "reason"
        assert response.status_code == 404
        assert response.json() == {kind: "There is nothing at this path."}
        assert "location" not in response.headers

    @pytest.mark.parametrize("path", ["/", "/api", "/health", "/health/live/", "/contacts", "/v1/contacts", "/docs/x"])
    def test_of_an_unknown_path_outside_of_the_api(self, service: Service, path: str) -> None:
        response = service.request("GET", path)

        assert response.status_code == 404
        assert response.json() == {"reason": "There is nothing at this path."}

    @pytest.mark.parametrize("version", ["v0", "v2", "V1", "v10", ""])
    @pytest.mark.parametrize("path", ["lists", "products", "contacts"])
    def test_of_another_version(self, service: Service, anna: Member, version: str, path: str) -> None:
        given = authorization([f"Bearer {anna.token}"])

        response = service.request("GET", f"/api/{anna.prefix}/{version}/{path}", headers=given)

        assert response.status_code == 404
        assert response.json() == {"reason": "There is nothing at this path."}

    @pytest.mark.parametrize(("method", "path", "allowed"), list(wrong_methods()))
    def test_of_a_wrong_method(self, anna: Member, method: str, path: str, allowed: set[str]) -> None:
        fill(anna)
        before = everything(anna)

        response = anna.request(method, concrete(path))

        assert response.status_code == 405
        assert set(response.headers["allow"].split(", ")) == allowed
        if method != "HEAD":
            assert response.json() == refusal(path, "This path does not take this method.")
        assert everything(anna) == before

    @pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/openapi.yaml", "/docs", "/metrics"])
    def test_of_a_wrong_method_outside_of_the_api(self, service: Service, path: str) -> None:
        response = service.request("POST", path)

        assert response.status_code == 405
        assert response.json() == {"reason": "This path does not take this method."}


BROKEN: list[dict[str, Any]] = [
    {"method": "GET", "path": "/nothing"},
    {"method": "GET", "path": "/contacts/K-1/notes"},
    {"method": "GET", "path": "/lists/"},
    {"method": "DELETE", "path": "/lists"},
    {"method": "PATCH", "path": "/products"},
    {"method": "PUT", "path": "/contacts"},
    {"method": "BREW", "path": "/contacts"},
    {"method": "GET", "path": "/lists?page=0"},
    {"method": "GET", "path": "/products"},
    {"method": "GET", "path": "/contacts?page=x"},
    {"method": "POST", "path": "/products", "content": b"{"},
    {"method": "PUT", "path": "/products", "content": b"\xff"},
    {"method": "POST", "path": "/products/find", "content": b"[" * 100_000},
    {"method": "POST", "path": "/contacts", "content": b"x" * 2_000_000},
    {"method": "PUT", "path": "/contacts/K-1", "content": b""},
    {"method": "GET", "path": "/contacts/%ff"},
]


class TestOrderOfRefusals:
    """The token comes first, then its prefix, then all the rest."""

    @pytest.mark.parametrize("request_", BROKEN, ids=lambda each: f"{each['method']} {each['path']}")
    @pytest.mark.parametrize("token", [None, "st_unknown"])
    def test_begins_with_the_token(
        self, service: Service, anna: Member, request_: dict[str, Any], token: str | None
    ) -> None:
        given = authorization([f"Bearer {token}"] if token else [])

        response = ask(service, anna.prefix, request_, given)

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.json() == refusal(request_["path"], NO_TOKEN)

    @pytest.mark.parametrize("request_", BROKEN, ids=lambda each: f"{each['method']} {each['path']}")
    @pytest.mark.parametrize("exists", [True, False])
    def test_goes_on_with_the_prefix(
        self,
        anna: Member,
        bruno: Member,
        request_: dict[str, Any],
        exists: bool,  # noqa: FBT001
    ) -> None:
        prefix = anna.prefix if exists else "nobody"

        response = ask(bruno.service, prefix, request_, authorization([f"Bearer {bruno.token}"]))

        assert response.status_code == 403
        assert response.json() == refusal(request_["path"], WRONG_PREFIX)

    @pytest.mark.parametrize("path", ["/api/", "/api//", "/api/x", "/api/x/", "/api/x/v2/lists", "/api/x/v1"])
    def test_holds_for_all_below_api(self, service: Service, anna: Member, path: str) -> None:
        without = service.request("GET", path)
        with_another = service.request("GET", path, headers=authorization([f"Bearer {anna.token}"]))

        assert (without.status_code, without.json()) == (401, {"reason": NO_TOKEN})
        assert (with_another.status_code, with_another.json()) == (403, {"reason": WRONG_PREFIX})


def ask(service: Service, prefix: str, request: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> httpx.Response:
    """Send a broken request."""
    path = f"/api/{prefix}/v1{request['path']}"
    return service.request(request["method"], path, headers=headers, content=request.get("content"))


def asked_for(member: Member, article_number: str, contact_uid: str) -> list[tuple[int, str, Any]]:
    """Ask for a product and a contact in every way there is; return status, body and headers of each answer."""
    responses = [
        member.post("/products/find", {"article_number": article_number}),
        member.post("/products/find", {"article_number": article_number, "deleted": True}),
        member.put("/products", {"article_number": article_number, "product": {"designation": "Mine"}}),
        member.get(f"/contacts/{contact_uid}"),
        member.post("/contacts/find", {"contact_uid": contact_uid}),
        member.put(f"/contacts/{contact_uid}", {"contact": {"city": "Mine"}}),
        member.delete(f"/contacts/{contact_uid}"),
    ]
    return [(response.status_code, response.text, comparable_headers(response)) for response in responses]


class TestForeignInstance:
    """BRUNO works in his instance; nothing of ANNA's is seen, counted, found, changed or deleted."""

    def test_shows_nothing(self, anna: Member, bruno: Member) -> None:
        fill(anna)
        before = everything(anna)

        seen = everything(bruno)

        lists, current, archived, products, deleted, _ = seen
        nobody = {"contacts": [], "current_page": 1, "per_page": 500, "total": 0, "last_page": 1}
        assert [each["id"] for each in lists["lists"]] == [str(bruno.list_id)]
        assert (current, archived) == (nobody, nobody)
        assert (products, deleted) == ({"products": []}, {"products": []})
        assert everything(anna) == before

    @pytest.mark.parametrize("search", ["K-1", "Lindgren", "Secret", "%", "", "_"])
    def test_counts_nothing(self, anna: Member, bruno: Member, search: str) -> None:
        fill(anna)

        found = bruno.get("/contacts", search=search, timestamp="1970-01-01").json()

        assert (found["contacts"], found["total"]) == ([], 0)

    def test_finds_and_changes_nothing_where_it_has_nothing(self, anna: Member, bruno: Member) -> None:
        """And the answer is that for what exists nowhere."""
        fill(anna)
        before = everything(anna), everything(bruno)

        current, gone, nowhere = (
            asked_for(bruno, number, uid)
            for number, uid in (("A-1", "K-1"), ("deleted", "archived"), ("unknown", "unknown"))
        )

        assert current == gone == nowhere
        assert {status for status, _, _ in nowhere} == {404}
        assert (everything(anna), everything(bruno)) == before

    def test_has_the_same_numbers_and_uids_for_itself(self, anna: Member, bruno: Member) -> None:
        fill(anna)
        before = everything(anna)

        fill(bruno)
        bruno.put(
            "/products", {"article_number": "A-1", "product": {"designation": "Mine", "reset_classification": True}}
        )
        bruno.put("/contacts/K-1", {"contact": {"city": "Mine", "notes": ["Mine"]}})
        bruno.submit(delete_products, Deed("A-1", "bruno"))
        deleted = bruno.delete("/contacts/archived")

        assert everything(anna) == before
        assert deleted.status_code == 204
        assert found_product(bruno, deleted=True)["data"][0]["designation"] == "Mine"
        assert bruno.get("/contacts/K-1").json()["contact"]["city"] == "Mine"

    def test_knows_none_of_the_ids(self, anna: Member, bruno: Member) -> None:
        fill(anna)
        foreign = [make_list(anna, "Beyond") for _ in range(20)][-1]
        before = everything(anna), everything(bruno)
        product = {"article_number": "A-1", "designation": "Mine"}

        created = bruno.post("/products", {"list_id": foreign, "product": product})
        listed = bruno.get("/products", timestamp="1970-01-01", list_id=foreign)

        found = [(response.status_code, response.json()) for response in (created, listed)]
        assert found == [(404, {"reason": "There is no product list with this list_id."})] * 2
        assert (everything(anna), everything(bruno)) == before

    def test_has_ids_of_its_own_even_where_they_are_equal(self, anna: Member, bruno: Member) -> None:
        """Both counters begin alike: the same number means each one's own list."""
        before = everything(anna)

        make_product(bruno)

        assert bruno.list_id == anna.list_id
        assert found_product(bruno)["list_id"] == bruno.list_id
        assert everything(anna) == before
        assert anna.get("/products", timestamp="1970-01-01", list_id=anna.list_id).json() == {"products": []}

    def test_counts_its_ids_alone(self, anna: Member, bruno: Member) -> None:
        """How busy others are cannot be told from them."""
        first = make_product(bruno, "A-1")
        second = make_product(bruno, "A-2")
        for number in range(10):
            make_product(anna, f"A-{number}")

        third = make_product(bruno, "A-3")

        assert third - second == second - first
