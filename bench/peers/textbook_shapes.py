"""The Pydantic models of the textbook service: bodies in, answers out."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class MasterData(BaseModel):
    """The fields of `product` on create and update that the textbook keeps."""

    designation: str
    designation2: str | None = None
    feature1: str | None = None
    feature2: str | None = None
    feature3: str | None = None
    feature4: str | None = None
    feature5: str | None = None
    feature6: str | None = None
    is_prio: bool | None = None
    is_eccn: bool | None = None
    eccn_comment: str | None = None
    machine_type: str | None = None
    assembly_group: str | None = None
    vendor: str | None = None


class NewMasterData(MasterData):
    """`product` on create."""

    article_number: str


class CreateBody(BaseModel):
    """The body of POST products."""

    list_id: int
    product: NewMasterData


class UpdateBody(BaseModel):
    """The body of PUT products."""

    article_number: str
    product: MasterData


class FindBody(BaseModel):
    """The body of POST products/find."""

    article_number: str
    deleted: bool = False


class DataOut(BaseModel):
    """An entry of `data`."""

    model_config = ConfigDict(from_attributes=True)

    article_number: str
    designation: str
    designation2: str
    feature1: str
    feature2: str
    feature3: str
    feature4: str
    feature5: str
    feature6: str
    is_prio: bool
    is_eccn: bool
    eccn_comment: str
    machine_type: str
    assembly_group: str
    status: str
    vendor: str


class ProductOut(BaseModel):
    """A product as returned."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    article_number: str
    classification: dict[str, Any] | None
    data: list[DataOut]
    eccns: dict[str, Any] | None
    is_unlisted: bool
    files: list[dict[str, Any]]
    inserted_at: datetime
    updated_at: datetime
    is_deleted: bool
    list_id: int
    user_id: int
    user_name: int


class PageOut(BaseModel):
    """The answer of GET products."""

    products: list[ProductOut]


class FoundOut(BaseModel):
    """The answer of POST products/find."""

    product: ProductOut


class IdOut(BaseModel):
    """The answer of POST and PUT products."""

    id: int
