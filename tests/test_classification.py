"""The classification record: how it is given, what is shown of it, when it changes by itself, and who may reset it."""

# Over 300 lines: the life of one record, from how it is given to how it ends.
# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any

import pytest

from stammdaten.auth.callers import Caller
from stammdaten.classification.rules import Classification
from stammdaten.classification.shapes import read_classification, shown_classification
from stammdaten.clock import german_stamp, utc_now, utc_stamp
from stammdaten.jobs.queue import ask, newest_jobs
from stammdaten.jobs.running import Worker
from stammdaten.products import expiry
from stammdaten.products.operations import NewProduct, create_products
from stammdaten.products.standing import Classifying, Deed, classify_products, delete_products
from stammdaten.refusals import Invalid
from stammdaten.settings import Settings
from stammdaten.store import Store, Write
from tests.cast import Member, Service, found_product, make_product
from tests.processes import PATIENCE
from tests.test_products_update import FULL, OTHER, actions_of, update

# For what takes the day as a value; what asks the clock is given a `day` from now.
YESTERDAY, TODAY, TOMORROW = "2026-02-28", "2026-03-01", "2026-03-02"
CTN = ["ctn", "ctn_8", "ctn_10", "ctn_format", "tradename2", "comment", "is_fixed", "is_av3", "status", "tradename"]
BTI = ["bti", "reason", "valid_from", "valid_until", "bti_found"]
# Specification, Classification: the fields of each type.
FIELDS = {
    "cmp_vzta": {"type", *CTN, *BTI},
    "grt_vzta": {"type", *CTN, *BTI},
    "manual": {"type", *CTN, "reason", "features"},
    "special": {"type", *CTN},
}
# What a clerk can give with each type, everything filled in.
GIVEN: dict[str, dict[str, Any]] = {
    "special": {
        "ctn": "8501522090",
        "tradename2": "with brake",
        "comment": "two\nlines",
        "is_fixed": True,
        "is_av3": True,
    }
}
GIVEN["manual"] = {**GIVEN["special"], "reason": "General Rule 1", "features": "400 V"}
GIVEN["cmp_vzta"] = {
    **GIVEN["special"],
    "reason": "General Rule 1",
    "bti": "DEBTI00000/25-1",
    "bti_found": "DEBTI00000/25-1",
    "valid_from": "2025-04-01",
    "valid_until": "2099-03-31",
}
GIVEN["grt_vzta"] = GIVEN["cmp_vzta"]
RESTS_ON = ["designation", "designation2", *(f"feature{number}" for number in range(1, 7))]
RESTS_ON += ["machine_type", "assembly_group", "system_material"]


def day(from_now: int) -> str:
    """Return a German day: 0 is today."""
    return (date.fromisoformat(german_stamp(utc_now())[:10]) + timedelta(days=from_now)).isoformat()


def classify(member: Member, article_number: str = "A-1", **given: object) -> int:
    """Classify a product as the command does; a manual record of 8 digits unless given otherwise."""
    record = read_classification({"type": "manual", "ctn": "85015220", **given}, today=day(0))
    return int(member.submit(classify_products, Classifying(article_number, "clara", record)))


def classification(member: Member, article_number: str = "A-1") -> Any:
    """Return the record that a product shows."""
    return found_product(member, article_number)["classification"]


class TestReadClassification:
    """classification.shapes.read_classification."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_takes_what_its_type_has(self, kind: str) -> None:
        record = read_classification({"type": kind, **GIVEN[kind]}, today=TODAY)

        empty = asdict(Classification(type=kind, ctn=""))
        assert asdict(record) == {**empty, **GIVEN[kind], "status": "classified"}

    @pytest.mark.parametrize("kind", FIELDS)
    def test_needs_type_and_number_alone(self, kind: str) -> None:
        record = read_classification({"type": kind, "ctn": "85015220"}, today=TODAY)

        assert record == Classification(type=kind, ctn="85015220")

    @pytest.mark.parametrize("kind", FIELDS)
    def test_ignores_what_its_type_has_not(self, kind: str) -> None:
        """Derived fields, those of other types, unknown ones."""
        derived = {"ctn_8": "1", "ctn_10": "1", "ctn_format": "x", "status": "expired", "tradename": 5}
        foreign = {name: ["x"] for name in ["features", *BTI] if name not in FIELDS[kind]}

        record = read_classification({"type": kind, "ctn": "85015220", **derived, **foreign, "x": 1}, today=TODAY)

        assert record == Classification(type=kind, ctn="85015220")

    @pytest.mark.parametrize("nothing", [None, ""])
    @pytest.mark.parametrize("kind", FIELDS)
    def test_takes_null_and_the_empty_text_for_unset(self, kind: str, nothing: str | None) -> None:
        """A BTI that was not found in the BTI data is null, however it is said."""
        texts = {name: nothing for name, value in GIVEN[kind].items() if isinstance(value, str) and name != "ctn"}

        record = read_classification({"type": kind, "ctn": "85015220", **texts, "is_fixed": None}, today=TODAY)

        assert record == Classification(type=kind, ctn="85015220")

    @pytest.mark.parametrize(
        ("given", "ctn"),
        [
            ("85015220", "85015220"),
            ("8501522090", "8501522090"),
            ("8501 52 20", "85015220"),
            ("8501.52.20.90", "8501522090"),
            (" 8501 5220 90 ", "8501522090"),
            ("00000000", "00000000"),
        ],
    )
    def test_ignores_blanks_and_dots_in_the_number(self, given: str, ctn: str) -> None:
        assert read_classification({"type": "special", "ctn": given}, today=TODAY).ctn == ctn

    @pytest.mark.parametrize(
        "ctn",
        [
            *("", " ", "8501522", "850152209", "85015220901", "8501522a", "8501-5220", "8501522O", "+85015220"),
            *("８５０１５２２０", "٨٥٠١٥٢٢٠", "8501\t5220", "85015220\n", "85015220\0", "8501\u00a05220", "8" * 5000),
        ],
    )
    def test_refuses_what_is_no_tariff_number(self, ctn: str) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification({"type": "manual", "ctn": ctn}, today=TODAY)

        assert str(refused.value) == "classification.ctn must be a tariff number of 8 or 10 digits"

    @pytest.mark.parametrize(
        "text",
        ["2026-02-29", "2026-13-01", "2026-1-1", "20260101", "2026-01-01T00:00", "01.01.2026", "x", " ", "0000-01-01"],
    )
    @pytest.mark.parametrize("name", ["valid_from", "valid_until"])
    def test_refuses_what_is_no_day(self, name: str, text: str) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification({"type": "cmp_vzta", "ctn": "85015220", name: text}, today=TODAY)

        assert str(refused.value) == f"classification.{name} must be a date as YYYY-MM-DD"

    @pytest.mark.parametrize("kind", ["cmp_vzta", "grt_vzta"])
    def test_refuses_an_end_before_the_beginning(self, kind: str) -> None:
        given = {"type": kind, "ctn": "85015220", "valid_from": "2026-01-02", "valid_until": "2026-01-01"}

        with pytest.raises(Invalid, match=r"^classification[.a-z_]* must not be "):
            read_classification(given, today=TODAY)

        assert read_classification({**given, "valid_until": "2026-01-02"}, today=TODAY).valid_until == "2026-01-02"

    @pytest.mark.parametrize(
        ("valid_until", "status"), [(YESTERDAY, "expired"), (TODAY, "classified"), (TOMORROW, "classified")]
    )
    def test_knows_whether_validity_has_passed(self, valid_until: str, status: str) -> None:
        record = read_classification({"type": "cmp_vzta", "ctn": "85015220", "valid_until": valid_until}, today=TODAY)

        assert record.status == status

    @pytest.mark.parametrize("given", [None, [], "manual", 1, {}, {"ctn": "85015220"}])
    def test_refuses_what_has_no_type(self, given: object) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification(given, today=TODAY)

        assert str(refused.value) == "classification.type must be one of cmp_vzta, grt_vzta, manual, special"

    @pytest.mark.parametrize("kind", [None, "", "Manual", "vzta", 1, True, ["manual"], {"manual": 1}])
    def test_refuses_other_types(self, kind: object) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification({"type": kind, "ctn": "85015220"}, today=TODAY)

        assert [fault.path for fault in refused.value.faults] == ["classification.type"]

    @pytest.mark.parametrize(
        ("kind", "name", "value", "sentence"),
        [
            ("manual", "ctn", None, "must be a String"),
            ("manual", "ctn", 85015220, "must be a String"),
            ("special", "tradename2", 5, "must be a String"),
            ("special", "tradename2", "x" * 256, "must not be longer than 255 characters"),
            ("special", "tradename2", "a\nb", "must not hold control characters"),
            ("special", "comment", ["x"], "must be a String"),
            ("special", "comment", "x" * 4001, "must not be longer than 4000 characters"),
            ("special", "comment", "a\0b", "must not hold NUL characters"),
            ("special", "is_fixed", "true", "must be true or false"),
            ("special", "is_av3", 1, "must be true or false"),
            ("manual", "reason", True, "must be a String"),
            ("manual", "features", {}, "must be a String"),
            ("cmp_vzta", "bti", 5, "must be a String"),
            ("cmp_vzta", "bti", "x" * 256, "must not be longer than 255 characters"),
            ("grt_vzta", "bti_found", False, "must be a String"),
            ("grt_vzta", "valid_from", 20260101, "must be a String"),
            ("grt_vzta", "valid_until", ["2026-01-01"], "must be a String"),
        ],
    )
    def test_names_the_wrong_field(self, kind: str, name: str, value: object, sentence: str) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification({"type": kind, **GIVEN[kind], name: value}, today=TODAY)

        assert str(refused.value) == f"classification.{name} {sentence}"

    def test_names_all_wrong_fields_at_once(self) -> None:
        with pytest.raises(Invalid) as refused:
            read_classification({"type": "cmp_vzta", "bti": 5, "is_fixed": "yes", "valid_from": "soon"}, today=TODAY)

        assert sorted(fault.path for fault in refused.value.faults) == [
            "classification.bti",
            "classification.ctn",
            "classification.is_fixed",
            "classification.valid_from",
        ]


class TestShownClassification:
    """classification.shapes.shown_classification."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_has_exactly_the_fields_of_its_type(self, kind: str) -> None:
        shown = shown_classification(Classification(type=kind, ctn="85015220"), designation="Bolt")

        assert shown.keys() == FIELDS[kind]

    @pytest.mark.parametrize("kind", FIELDS)
    def test_shows_what_was_given(self, kind: str) -> None:
        record = read_classification({"type": kind, **GIVEN[kind]}, today=TODAY)

        shown = shown_classification(record, designation="Bolt")

        derived = {"ctn_8": "85015220", "ctn_10": "8501522090", "ctn_format": "10-digit", "tradename": "Bolt"}
        assert shown == {"type": kind, **GIVEN[kind], **derived, "status": "classified"}

    @pytest.mark.parametrize("kind", FIELDS)
    def test_shows_empty_texts_for_what_is_unset(self, kind: str) -> None:
        """All but `bti_found`, which is null when the BTI was not found."""
        shown = shown_classification(Classification(type=kind, ctn="85015220"), designation="Bolt")

        unset: dict[str, Any] = dict.fromkeys(FIELDS[kind], "") | {"is_fixed": False, "is_av3": False}
        unset |= {"bti_found": None} if "bti_found" in FIELDS[kind] else {}
        assert shown == {
            **unset,
            "type": kind,
            "ctn": "85015220",
            "ctn_8": "85015220",
            "ctn_format": "8-digit",
            "status": "classified",
            "tradename": "Bolt",
        }


class TestClassifyProducts:
    """products.standing.classify_products."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_shows_the_record_on_the_product(self, anna: Member, kind: str) -> None:
        make_product(anna)
        before = found_product(anna)

        action_id = classify(anna, type=kind, **GIVEN[kind])

        after = found_product(anna)
        derived = {"ctn_8": "85015220", "ctn_10": "8501522090", "ctn_format": "10-digit", "tradename": "Hex bolt M8"}
        assert after == {
            **before,
            "classification": {"type": kind, **GIVEN[kind], **derived, "status": "classified"},
            "data": [{**before["data"][0], "status": "classified"}],
            "updated_at": after["updated_at"],
        }
        assert after["updated_at"] > before["updated_at"]
        action = actions_of(anna, after["id"])[0]
        assert action[:5] == (action_id, "classified", "Product Classified", "clara", after["updated_at"])

    def test_replaces_a_record_of_another_type_whole(self, anna: Member) -> None:
        make_product(anna)
        classify(anna, type="cmp_vzta", **GIVEN["cmp_vzta"])

        classify(anna, type="manual", ctn="85015220", reason="")

        shown = classification(anna)
        record = Classification(type="manual", ctn="85015220")
        assert shown == shown_classification(record, designation="Hex bolt M8")

    @pytest.mark.parametrize(("ends", "status"), [(-1, "expired"), (1, "classified")])
    def test_mirrors_the_status_in_the_data(self, anna: Member, ends: int, status: str) -> None:
        make_product(anna)

        classify(anna, type="grt_vzta", valid_until=day(ends))

        product = found_product(anna)
        assert (product["classification"]["status"], product["data"][0]["status"]) == (status, status)


class TestTradename:
    """`tradename`, made of the designation; `tradename2` is the clerk's."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_follows_the_designation(self, anna: Member, kind: str) -> None:
        make_product(anna)
        classify(anna, type=kind, **GIVEN[kind])

        update(anna, designation='Schraube "M8" ß 🔩')

        shown = classification(anna)
        assert (shown["tradename"], shown["tradename2"]) == ('Schraube "M8" ß 🔩', "with brake")


class TestAutomaticAdjustment:
    """PUT products on a classified product."""

    @pytest.mark.parametrize("name", RESTS_ON)
    @pytest.mark.parametrize("kind", FIELDS)
    def test_sets_the_status_to_review(self, anna: Member, kind: str, name: str) -> None:
        product_id = make_product(anna, **FULL)
        classify(anna, type=kind, **{**GIVEN[kind], "is_fixed": False})
        before = classification(anna)

        response = update(anna, **{"designation": FULL["designation"], name: OTHER[name]})

        product = found_product(anna)
        adjusted, updated = actions_of(anna, product_id)[:2]
        assert response.json() == {"id": adjusted[0]}
        assert product["classification"] == {
            **before,
            "status": "review",
            "tradename": product["data"][0]["designation"],
        }
        assert product["data"][0]["status"] == "review"
        assert (adjusted[1], adjusted[3], adjusted[4]) == ("adjusted", "stammdaten", product["updated_at"])
        assert (updated[1], updated[3]) == ("updated", "anna")
        assert updated[0] < adjusted[0]
        assert updated[4] < adjusted[4]
        assert adjusted[5] == '{"classification.status":["classified","review"]}'

    @pytest.mark.parametrize("name", sorted(FULL.keys() - set(RESTS_ON)))
    def test_does_not_mind_other_fields(self, anna: Member, name: str) -> None:
        product_id = make_product(anna, **FULL)
        classify(anna)
        before = classification(anna)

        response = update(anna, **{"designation": FULL["designation"], name: OTHER[name]})

        newest = actions_of(anna, product_id)[0]
        assert response.json() == {"id": newest[0]}
        assert newest[1] == "updated"
        assert classification(anna) == before

    def test_does_not_mind_a_field_sent_unchanged(self, anna: Member) -> None:
        make_product(anna, **FULL)
        classify(anna)
        before = classification(anna)

        update(anna, **FULL)

        assert classification(anna) == before

    @pytest.mark.parametrize("name", RESTS_ON)
    def test_leaves_a_fixed_record_alone(self, anna: Member, name: str) -> None:
        product_id = make_product(anna, **FULL)
        classify(anna, is_fixed=True)

        response = update(anna, **{"designation": FULL["designation"], name: OTHER[name]})

        newest = actions_of(anna, product_id)[0]
        assert response.json() == {"id": newest[0]}
        assert newest[1] == "updated"
        assert classification(anna)["status"] == "classified"

    @pytest.mark.parametrize("nothing", [None, ""])
    def test_minds_a_field_that_is_cleared(self, anna: Member, nothing: str | None) -> None:
        make_product(anna, **FULL)
        classify(anna)

        update(anna, designation=FULL["designation"], feature3=nothing)

        assert classification(anna)["status"] == "review"

    def test_happens_once(self, anna: Member) -> None:
        """A record that waits for review already is not adjusted again."""
        product_id = make_product(anna)
        classify(anna)
        update(anna, designation="Bolt")

        response = update(anna, designation="Other bolt")

        categories = [action[1] for action in actions_of(anna, product_id)]
        assert categories == ["updated", "adjusted", "updated", "classified", "created"]
        assert response.json() == {"id": actions_of(anna, product_id)[0][0]}
        assert classification(anna)["status"] == "review"

    def test_ends_with_the_next_classification(self, anna: Member) -> None:
        make_product(anna)
        classify(anna)
        update(anna, designation="Bolt")

        classify(anna)

        assert classification(anna)["status"] == "classified"


class TestResetClassification:
    """PUT products, `reset_classification`."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_removes_the_record(self, anna: Member, kind: str) -> None:
        product_id = make_product(anna)
        before = found_product(anna)
        classify(anna, type=kind, **{**GIVEN[kind], "is_fixed": False})

        response = update(anna, reset_classification=True)

        after = found_product(anna)
        reset, updated = actions_of(anna, product_id)[:2]
        assert response.status_code == 200
        assert response.json() == {"id": reset[0]}
        assert after == {**before, "updated_at": after["updated_at"]}
        assert reset[1:5] == ("reset", "Classification Reset", "anna", after["updated_at"])
        assert updated[1] == "updated"

    def test_counts_alone_together_with_changes(self, anna: Member) -> None:
        """No adjustment beside it: the newest action is the reset."""
        product_id = make_product(anna)
        classify(anna)

        response = update(anna, designation="Bolt", feature1="new", reset_classification=True)

        product = found_product(anna)
        actions = actions_of(anna, product_id)
        assert response.json() == {"id": actions[0][0]}
        assert [action[1] for action in actions] == ["reset", "updated", "classified", "created"]
        assert (product["classification"], product["data"][0]["status"]) == (None, "")
        assert (product["data"][0]["designation"], product["data"][0]["feature1"]) == ("Bolt", "new")

    @pytest.mark.parametrize("value", [False, None])
    def test_does_nothing_when_false(self, anna: Member, value: bool | None) -> None:  # noqa: FBT001
        make_product(anna)
        classify(anna, is_fixed=True)
        before = classification(anna)

        response = update(anna, reset_classification=value)

        assert response.status_code == 200
        assert classification(anna) == before

    @pytest.mark.parametrize("value", ["true", "false", "", 0, 1, [], {}])
    def test_must_be_a_flag(self, anna: Member, value: object) -> None:
        make_product(anna)
        classify(anna)
        before = found_product(anna)

        response = update(anna, reset_classification=value)

        assert response.status_code == 400
        assert response.json() == {"reason": "product.reset_classification must be true or false"}
        assert found_product(anna) == before

    def test_is_a_plain_update_without_a_record(self, anna: Member) -> None:
        product_id = make_product(anna)

        response = update(anna, reset_classification=True)

        newest = actions_of(anna, product_id)[0]
        assert response.json() == {"id": newest[0]}
        assert newest[1] == "updated"

    @pytest.mark.parametrize(
        "roles",
        [[], ["api-user"], ["clerk"], ["article-processor"], ["clerk", "auditor", "article-processor", "api-user"]],
        ids=" ".join,
    )
    def test_of_a_fixed_record_is_refused_to_most(self, service: Service, anna: Member, roles: list[str]) -> None:
        product_id = make_product(anna)
        classify(anna, is_fixed=True)
        before = found_product(anna)
        member = service.colleague(anna, "somebody", roles=roles)

        response = update(member, designation="Bolt", reset_classification=True)

        assert response.status_code == 403
        assert response.json().keys() == {"reason"}
        assert found_product(anna) == before
        assert len(actions_of(anna, product_id)) == 2

    @pytest.mark.parametrize("roles", [["client-admin"], ["extended-clerk"], ["auditor", "client-admin"]], ids=" ".join)
    def test_of_a_fixed_record_is_allowed_to_few(self, service: Service, anna: Member, roles: list[str]) -> None:
        make_product(anna)
        classify(anna, is_fixed=True)
        member = service.colleague(anna, "somebody", roles=roles)

        response = update(member, reset_classification=True)

        assert response.status_code == 200
        assert classification(anna) is None

    def test_of_a_record_not_fixed_is_allowed_to_all_who_write(self, anna: Member, no_role: Member) -> None:
        make_product(anna)
        classify(anna)

        response = update(no_role, reset_classification=True)

        assert response.status_code == 200
        assert classification(anna) is None

    def test_lets_the_product_be_classified_again(self, anna: Member) -> None:
        make_product(anna)
        classify(anna)
        update(anna, reset_classification=True)

        classify(anna, type="special")

        assert classification(anna)["type"] == "special"


@pytest.fixture
def alone(fresh: Settings) -> Iterator[Service]:
    """The app on a database of the test's own: the job goes through all instances there are."""
    with Service(fresh) as running:
        running.run(own_job_done)
        yield running


async def own_job_done(store: Store) -> None:
    """Wait for the day's job that the app asks for itself when it starts: it must not meet what a test makes."""
    async with asyncio.timeout(PATIENCE):
        while True:
            async with store.reading_shared() as read:
                if any(row[1] == expiry.JOB and row[3] == "done" for row in await newest_jobs(read, most=50)):
                    return
            await asyncio.sleep(0.01)


def expire(service: Service) -> None:
    """Do the daily job of classifications, as a worker does; the app's own may be the one that takes it."""
    key = f"test {time.monotonic_ns()}"

    async def work(store: Store) -> None:
        await ask(store, kind=expiry.JOB, key=key, now=utc_stamp(utc_now()))
        worker = Worker(store, {expiry.JOB: expiry.expire_classifications}, ())
        async with asyncio.timeout(PATIENCE):
            while True:
                async with store.reading_shared() as read:
                    states = [row[3] for row in await newest_jobs(read, most=50) if row[2] == key]
                if states == ["done"]:
                    return
                if not await worker.work_once():
                    await asyncio.sleep(0.01)

    service.run(work)


def classify_as_if(member: Member, article_number: str = "A-1", **columns: Any) -> None:
    """Keep a record whose validity has ended since, as it stands before the job of that day."""
    record = Classification(**{"type": "cmp_vzta", "ctn": "85015220", **columns})
    member.submit(classify_products, Classifying(article_number, "clara", record))


def with_ended_validity(member: Member, article_numbers: list[str]) -> None:
    """Make many products whose validity has ended since."""
    caller = Caller(member.instance_id, member.prefix, 1, member.name, frozenset())
    record = Classification(type="cmp_vzta", ctn="85015220", valid_until=day(-1))

    async def make(write: Write) -> None:
        rows = [
            NewProduct(caller=caller, list_id=member.list_id, article_number=number, values={"designation": "Bolt"})
            for number in article_numbers
        ]
        await create_products(write, rows)
        await classify_products(write, [Classifying(number, "clara", record) for number in article_numbers])

    member.service.write(member.instance_id, make)


class TestExpireClassifications:
    """products.expiry.expire_classifications, by the worker of the jobs."""

    def test_marks_what_ended_before_today(self, alone: Service) -> None:
        """Of either type that has a validity, fixed or not, also where it waits for review."""
        anna = alone.member("anna", roles=["api-user", "clerk"])
        kinds = itertools.product(("cmp_vzta", "grt_vzta"), ("classified", "review"), (True, False))
        ids = {}
        for kind, status, is_fixed in kinds:
            number = f"{kind} {status} {is_fixed}"
            ids[number] = make_product(anna, number)
            classify_as_if(anna, number, type=kind, status=status, is_fixed=is_fixed, valid_until=day(-1))
        before = {number: found_product(anna, number) for number in ids}

        expire(alone)

        for number, product_id in ids.items():
            after, action = found_product(anna, number), actions_of(anna, product_id)[0]
            assert after == {
                **before[number],
                "classification": {**before[number]["classification"], "status": "expired"},
                "data": [{**before[number]["data"][0], "status": "expired"}],
                "updated_at": after["updated_at"],
            }
            assert after["updated_at"] > max(product["updated_at"] for product in before.values())
            assert action[1:5] == ("expired", "Classification Expired", "stammdaten", after["updated_at"])

    def test_leaves_the_others_alone(self, alone: Service) -> None:
        anna = alone.member("anna", roles=["api-user", "clerk"])
        others: list[dict[str, Any]] = [
            {"valid_until": day(0)},
            {"valid_until": day(1)},
            {"valid_from": "2001-01-01"},
            {"valid_until": day(-1), "status": "expired"},
            {"type": "manual"},
            {"type": "special"},
        ]
        for number, columns in enumerate(others):
            make_product(anna, f"A-{number}")
            classify_as_if(anna, f"A-{number}", **columns)
        before = [found_product(anna, f"A-{number}") for number in range(len(others))]

        expire(alone)

        assert [found_product(anna, f"A-{number}") for number in range(len(others))] == before

    def test_marks_once(self, alone: Service) -> None:
        anna = alone.member("anna", roles=["api-user", "clerk"])
        make_product(anna)
        classify_as_if(anna, valid_until=day(-1))
        expire(alone)
        before = found_product(anna)

        expire(alone)

        assert found_product(anna) == before

    def test_marks_more_than_fit_into_one_transaction(self, alone: Service) -> None:
        anna = alone.member("anna", roles=["api-user", "clerk"])
        with_ended_validity(anna, [f"A-{number:03}" for number in range(450)])

        expire(alone)

        pages = [anna.get("/products", timestamp="1970-01-01", page=page).json()["products"] for page in range(1, 16)]
        stamps = [product["updated_at"] for page in pages for product in page]
        assert {product["data"][0]["status"] for page in pages for product in page} == {"expired"}
        assert len(set(stamps)) == 450

    def test_goes_through_all_instances(self, alone: Service) -> None:
        anna, bruno = (alone.member(name, roles=["clerk"]) for name in ("anna", "bruno"))
        for member in (anna, bruno):
            make_product(member)
            classify_as_if(member, valid_until=day(-1))

        expire(alone)

        assert [classification(member)["status"] for member in (anna, bruno)] == ["expired", "expired"]

    def test_does_not_decide_which_deleted_product_is_the_newest(self, alone: Service) -> None:
        """Its mark on an older one comes later than the deletion of the newer one."""
        anna = alone.member("anna", roles=["api-user", "clerk"])
        make_product(anna)
        classify_as_if(anna, valid_until=day(-1))
        anna.submit(delete_products, Deed("A-1", "anna"))
        newest = make_product(anna)
        anna.submit(delete_products, Deed("A-1", "anna"))

        expire(alone)

        assert found_product(anna, deleted=True)["id"] == newest
