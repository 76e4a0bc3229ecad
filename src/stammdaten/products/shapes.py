"""Products in JSON: what is accepted, and the one function that renders what is returned."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Required, TypeVar, get_type_hints

from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import to_json
from typing_extensions import TypedDict  # what Pydantic reads before Python 3.12

from stammdaten.classification.rules import Classification
from stammdaten.classification.shapes import shown_classification
from stammdaten.http.fields import (
    CLEARED,
    SHORT_LINE,
    AnyText,
    Identifier,
    ListId,
    Long,
    OptionalFlag,
    RequiredLong,
    Shape,
    Short,
    Text,
    faults,
    one_of,
    wrong,
)
from stammdaten.products.countries import COUNTRY_CODES
from stammdaten.refusals import Fault, Invalid

SOURCING = ("F", "E", "H", "X")


def _country(given: str) -> str:
    # Upper case of other scripts can be Latin: of ß it is SS, South Sudan.
    code = given.upper()
    if not given.isascii() or code not in COUNTRY_CODES:
        raise wrong("must be a country code of ISO 3166-1 alpha-2, or one of XK, XI, XS, XC, XL, EU")
    return code


Country = Annotated[Annotated[str, SHORT_LINE, AfterValidator(_country)] | None, CLEARED]


class _Origin(Shape):
    non_preferential: Country = None
    preferential: Country = None
    made_in: Country = None


class _Fields(Shape):
    """The fields of `product` that create and update share (specification, POST products)."""

    designation: RequiredLong
    designation2: Long = None
    vendor: Short = None
    feature1: Long = None
    feature2: Long = None
    feature3: Long = None
    feature4: Long = None
    feature5: Long = None
    feature6: Long = None
    is_prio: OptionalFlag = None
    is_eccn: OptionalFlag = None
    eccn_comment: Text = None
    machine_type: Short = None
    assembly_group: Short = None
    is_nuclear: OptionalFlag = None
    import_article: OptionalFlag = None
    is_military: OptionalFlag = None
    supplier_ctn: Short = None
    presystem_ctn: Short = None
    type_of_sourcing: Annotated[Annotated[str, one_of(SOURCING)] | None, CLEARED] = None
    system_material: Short = None
    country_of_origin: _Origin | None = None
    non_preferential: Country = None
    preferential: Country = None
    made_in: Country = None

    def values(self) -> dict[str, Any]:
        """Return the columns that were given, cleared ones as "" or False; nested origins win."""
        were_given, fields = self.model_fields_set, self.__dict__
        given = {name: fields[name] for name in _COLUMNS if name in were_given}
        if self.country_of_origin:
            origin = self.country_of_origin
            given |= {name: getattr(origin, name) for name in origin.model_fields_set}
        elif "country_of_origin" in were_given:
            # null clears the origins, but for those that stand beside it.
            given = dict.fromkeys(_Origin.model_fields) | given
        return _cleared(given)


class _NewFields(_Fields):
    article_number: Identifier


class _UpdateFields(_Fields):
    reset_classification: OptionalFlag = None


class _Create(Shape):
    list_id: ListId
    product: _NewFields


class _Update(Shape):
    article_number: Identifier
    product: _UpdateFields


class _Find(Shape):
    article_number: Identifier
    deleted: Any = False


def _cleared(given: dict[str, Any]) -> dict[str, Any]:
    return {name: (False if name in _FLAGS else "") if value is None else value for name, value in given.items()}


_FLAGS = {"is_prio", "is_eccn", "is_nuclear", "import_article", "is_military"}
_COLUMNS = tuple(name for name in _Fields.model_fields if name != "country_of_origin")


class Product(NamedTuple):
    """A product as it is kept, in the order of the table's columns, without the rendered document.

    A named tuple, not a dataclass: it is what the drivers give and take, and a changed copy costs a tenth.
    """

    id: int
    list_id: int
    user_id: int
    inserted_at: str
    updated_at: str
    is_deleted: bool
    is_archived: bool
    is_unlisted: bool
    article_number: str
    designation: str = ""
    designation2: str = ""
    feature1: str = ""
    feature2: str = ""
    feature3: str = ""
    feature4: str = ""
    feature5: str = ""
    feature6: str = ""
    is_prio: bool = False
    is_eccn: bool = False
    eccn_comment: str = ""
    machine_type: str = ""
    assembly_group: str = ""
    vendor: str = ""
    is_nuclear: bool = False
    import_article: bool = False
    is_military: bool = False
    supplier_ctn: str = ""
    presystem_ctn: str = ""
    type_of_sourcing: str = ""
    system_material: str = ""
    non_preferential: str = ""
    preferential: str = ""
    made_in: str = ""
    eccns: str | None = None
    files: str = ""


# The same fields as a dictionary, none of them required but the number: half the time of a model and its values.
_typed_dict: Any = TypedDict  # as mypy knows it, the fields would have to be written out once more
_kinds = {name: kind for name, kind in get_type_hints(_Fields, include_extras=True).items() if name in _COLUMNS}
_Imported = _typed_dict("_Imported", {"article_number": Required[Identifier], **_kinds}, total=False)
_Imported.__pydantic_config__ = Shape.model_config
_IMPORTED: TypeAdapter[dict[str, Any]] = TypeAdapter(_Imported)
_text: TypeAdapter[str] = TypeAdapter(AnyText)
S = TypeVar("S", bound=Shape)


def read_create(body: Any, unstorable: list[Fault]) -> tuple[int, str, dict[str, Any]]:
    """Read the body of POST products: list id, article number and the columns given.

    :raises Invalid: if a field is missing or wrong.
    """
    create = _read(_Create, body, unstorable)
    return create.list_id, create.product.article_number, create.product.values()


def read_update(body: Any, unstorable: list[Fault]) -> tuple[str, dict[str, Any], bool]:
    """Read the body of PUT products: article number, the columns given, and whether to reset the classification.

    :raises Invalid: if a field is missing or wrong.
    """
    update = _read(_Update, body, unstorable)
    return update.article_number, update.product.values(), bool(update.product.reset_classification)


def read_fields(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read fields that no body holds, the number alone required: article number, and the columns given.

    :raises Invalid: with every fault at once, their paths the names of the fields.
    """
    try:
        read = _IMPORTED.validate_python(given)
    except ValidationError as error:
        raise Invalid(faults(error)) from error
    article_number = read.pop("article_number")
    return article_number, _cleared(read)


def read_find(body: Any, unstorable: list[Fault]) -> tuple[str, Any]:
    """Read the body of POST products/find: article number, and `deleted` as it came.

    :raises Invalid: if a field is missing or wrong.
    """
    find = _read(_Find, body, unstorable)
    return find.article_number, find.deleted


def _read(shape: type[S], body: Any, unstorable: list[Fault]) -> S:
    if not isinstance(body, dict):
        raise Invalid([Fault("body", "must be a JSON object")])
    if unstorable:
        raise Invalid(unstorable)
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise Invalid(faults(error)) from error


def read_text(name: str, given: str) -> str:
    """Read a comment or code that an operator gives.

    :raises Invalid: if it is too long or holds NUL.
    """
    try:
        return _text.validate_python(given)
    except ValidationError as error:
        raise Invalid(faults(error, name)) from error


def rendered_product(product: Product, record: Classification | None) -> bytes:
    """Render the public JSON of a product (specification, Product); nothing else knows its shape."""
    return to_json(
        {
            "id": product.id,
            "article_number": product.article_number,
            "classification": record and shown_classification(record, designation=product.designation),
            "data": [_shown_data(product, record)],
            "eccns": _shown_eccns(product.eccns),
            "is_unlisted": product.is_unlisted,
            "files": json.loads(product.files) if product.files else [],
            "inserted_at": product.inserted_at,
            "updated_at": product.updated_at,
            "is_deleted": product.is_deleted,
            "list_id": product.list_id,
            "user_id": product.user_id,
            # Typed Integer in the interface: it carries the number of the user (specification, Product).
            "user_name": product.user_id,
        }
    )


def _shown_data(product: Product, record: Classification | None) -> Mapping[str, Any]:
    return {
        "article_number": product.article_number,
        "designation": product.designation,
        "designation2": product.designation2,
        "feature1": product.feature1,
        "feature2": product.feature2,
        "feature3": product.feature3,
        "feature4": product.feature4,
        "feature5": product.feature5,
        "feature6": product.feature6,
        "is_prio": product.is_prio,
        "is_eccn": product.is_eccn,
        "eccn_comment": product.eccn_comment,
        "machine_type": product.machine_type,
        "assembly_group": product.assembly_group,
        "status": record.status if record else "",
        "vendor": product.vendor,
    }


def _shown_eccns(kept: str | None) -> dict[str, str] | None:
    if kept is None:
        return None
    eccns = json.loads(kept)
    return {"codes": ", ".join(eccns["codes"]), "comment": eccns["comment"]}
