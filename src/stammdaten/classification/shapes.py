"""The classification record in JSON: what a clerk gives, and what a product shows of it."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from stammdaten.classification.rules import Classification, Status, is_expired, tariff_number
from stammdaten.http.fields import CLEARED, OptionalFlag, Shape, Short, Text, faults, wrong
from stammdaten.refusals import Fault, Invalid

TYPES = ("cmp_vzta", "grt_vzta", "manual", "special")


def _ctn(given: str) -> str:
    try:
        return tariff_number(given)
    except ValueError:
        raise wrong("must be a tariff number of 8 or 10 digits") from None


def _day(given: str) -> str:
    try:
        if date.fromisoformat(given).isoformat() == given:
            return given
    except ValueError:
        pass
    raise wrong("must be a date as YYYY-MM-DD")


_Day = Annotated[Annotated[str, AfterValidator(_day)] | None, CLEARED]


class _Given(Shape):
    ctn: Annotated[str, AfterValidator(_ctn)]
    tradename2: Short = None
    comment: Text = None
    is_fixed: OptionalFlag = None
    is_av3: OptionalFlag = None


class _GivenBti(_Given):
    type: Literal["cmp_vzta", "grt_vzta"]
    bti: Short = None
    reason: Text = None
    valid_from: _Day = None
    valid_until: _Day = None
    bti_found: Annotated[Short, CLEARED] = None

    @model_validator(mode="after")
    def _in_order(self) -> "_GivenBti":
        if self.valid_from and self.valid_until and self.valid_until < self.valid_from:
            raise wrong("must not be valid until a day before valid_from")
        return self


class _GivenManual(_Given):
    type: Literal["manual"]
    reason: Text = None
    features: Text = None


class _GivenSpecial(_Given):
    type: Literal["special"]


_given: TypeAdapter[_GivenBti | _GivenManual | _GivenSpecial] = TypeAdapter(
    Annotated[_GivenBti | _GivenManual | _GivenSpecial, Field(discriminator="type")]
)


def read_classification(given: Any, *, today: str) -> Classification:
    """Read a record as a clerk gives it: `type`, `ctn` and what else the type has; the rest is derived.

    :raises Invalid: if a field is missing or wrong.
    """
    if not isinstance(given, dict) or given.get("type") not in TYPES:
        raise Invalid([Fault("classification.type", f"must be one of {', '.join(TYPES)}")])
    try:
        record = _given.validate_python(given)
    except ValidationError as error:
        raise Invalid([_within_type(fault) for fault in faults(error, "classification")]) from error
    values = {name: value for name, value in record if value is not None}
    status = Status.EXPIRED if is_expired(values.get("valid_until", ""), today) else Status.CLASSIFIED
    return Classification(**values, status=status)


def _within_type(fault: Fault) -> Fault:
    # Pydantic names the variant in the path; the caller does not know it as a step.
    first, *steps = fault.path.split(".")
    return Fault(".".join([first, *(step for step in steps if step not in TYPES)]), fault.sentence)


def shown_classification(record: Classification, *, designation: str) -> dict[str, Any]:
    """Shape a record with the fields of its type (specification: Classification), derived ones among them."""
    shown: dict[str, Any] = {
        "type": record.type,
        "ctn": record.ctn,
        "ctn_8": record.ctn[:8],
        "ctn_10": record.ctn if len(record.ctn) == len("0102030405") else "",
        "ctn_format": f"{len(record.ctn)}-digit",
        "tradename2": record.tradename2,
        "comment": record.comment,
        "is_fixed": record.is_fixed,
        "is_av3": record.is_av3,
        "status": record.status,
        # Made of the designation; a nomenclature that would add its text is not loaded yet.
        "tradename": designation,
    }
    if record.type == "special":
        return shown
    shown["reason"] = record.reason
    if record.type == "manual":
        return shown | {"features": record.features}
    return shown | {
        "bti": record.bti,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "bti_found": record.bti_found,
    }
