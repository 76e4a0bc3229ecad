"""The relational columns of the textbook service, as the SQLAlchemy tutorial would map them."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    """The textbook's tables."""


class Product(Base):
    """A product. What is rarely there (classification, ECCNs, files) is JSONB: kinder than more tables."""

    __tablename__ = "products"
    __table_args__ = (Index("products_updated_at", "updated_at", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    article_number: Mapped[str] = mapped_column(String(255), unique=True)
    list_id: Mapped[int]
    user_id: Mapped[int]
    user_name: Mapped[int]
    classification: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    eccns: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    files: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, default=list)
    is_unlisted: Mapped[bool] = mapped_column(default=False)
    is_deleted: Mapped[bool] = mapped_column(default=False)
    is_archived: Mapped[bool] = mapped_column(default=False)
    inserted_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    data: Mapped[list["ProductData"]] = relationship(order_by="ProductData.id")


class ProductData(Base):
    """The master data of a product."""

    __tablename__ = "product_data"

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"), index=True)
    article_number: Mapped[str] = mapped_column(String(255))
    designation: Mapped[str] = mapped_column(String(1000))
    designation2: Mapped[str] = mapped_column(String(1000), default="")
    feature1: Mapped[str] = mapped_column(String(1000), default="")
    feature2: Mapped[str] = mapped_column(String(1000), default="")
    feature3: Mapped[str] = mapped_column(String(1000), default="")
    feature4: Mapped[str] = mapped_column(String(1000), default="")
    feature5: Mapped[str] = mapped_column(String(1000), default="")
    feature6: Mapped[str] = mapped_column(String(1000), default="")
    is_prio: Mapped[bool] = mapped_column(default=False)
    is_eccn: Mapped[bool] = mapped_column(default=False)
    eccn_comment: Mapped[str] = mapped_column(String(4000), default="")
    machine_type: Mapped[str] = mapped_column(String(255), default="")
    assembly_group: Mapped[str] = mapped_column(String(255), default="")
    status: Mapped[str] = mapped_column(String(255), default="")
    vendor: Mapped[str] = mapped_column(String(255), default="")


class Action(Base):
    """Who did what to a product, and when."""

    __tablename__ = "actions"

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"), index=True)
    user_id: Mapped[int]
    category: Mapped[str] = mapped_column(String(255))
    changes: Mapped[dict[str, Any]] = mapped_column(JSONB)
    at: Mapped[datetime]
