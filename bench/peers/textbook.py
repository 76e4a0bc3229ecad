"""The same product endpoints as a textbook would write them: FastAPI, Pydantic models, SQLAlchemy ORM, async.

Start with `uvicorn bench.peers.textbook:app`; BENCH_DATABASE_URL and BENCH_TOKEN must be set. The choices,
each in the textbook's favour where there was one:

* relational columns, master data in a child table, loaded with `selectinload`: two statements, never N+1;
* an index for each query; a session a request; a pool of 16 like the load generator's (8 served no more);
* `expire_on_commit=False`, so that nothing is read again after a commit;
* the token is looked up in a dict, not in a table: no statement;
* no metrics, no request log, no change clock: an update takes the wall clock and waits for nobody.
"""

# ruff: noqa: FAST003 - there is one instance, whatever the prefix

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import selectinload

from bench.peers.textbook_shapes import (
    CreateBody,
    FindBody,
    FoundOut,
    IdOut,
    PageOut,
    UpdateBody,
)
from bench.peers.textbook_tables import Action, Product, ProductData

PAGE = 30
USER_ID = 1

engine = create_async_engine(os.environ["BENCH_DATABASE_URL"], pool_size=16, max_overflow=0)
Session = async_sessionmaker(engine, expire_on_commit=False)
TOKENS = {hashlib.sha256(os.environ["BENCH_TOKEN"].encode()).hexdigest(): USER_ID}


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Close the pool at the end."""
    yield
    await engine.dispose()


app = FastAPI(lifespan=lifespan)
bearer = HTTPBearer()


async def session() -> AsyncIterator[AsyncSession]:
    """Open a session for one request."""
    async with Session() as opened:
        yield opened


async def caller(
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)],
) -> int:
    """Return the id of the user whose token it is."""
    user_id = TOKENS.get(hashlib.sha256(credentials.credentials.encode()).hexdigest())
    if user_id is None:
        raise HTTPException(401, "Unknown token")
    return user_id


Opened = Annotated[AsyncSession, Depends(session)]
Caller = Annotated[int, Depends(caller)]


@app.get("/api/{prefix}/v1/products", response_model=PageOut)
async def list_products(  # noqa: PLR0913, PLR0917 - the parameters of the query
    opened: Opened,
    user_id: Caller,  # noqa: ARG001 - authentication
    timestamp: datetime,
    page: int = 1,
    list_id: int | None = None,
    deleted: bool = False,  # noqa: FBT001, FBT002 - FastAPI's way to declare a query parameter
) -> dict[str, list[Product]]:
    """Return a page of the products changed after `timestamp`."""
    query = (
        select(Product)
        .options(selectinload(Product.data))
        .where(
            Product.updated_at > timestamp,
            Product.is_deleted == deleted,
            Product.is_archived.is_(False),
        )
        .order_by(Product.updated_at, Product.id)
        .offset((page - 1) * PAGE)
        .limit(PAGE)
    )
    if list_id is not None:
        query = query.where(Product.list_id == list_id)
    return {"products": list(await opened.scalars(query))}


@app.post("/api/{prefix}/v1/products/find", response_model=FoundOut)
async def find_product(opened: Opened, user_id: Caller, body: FindBody) -> dict[str, Product]:  # noqa: ARG001
    """Return the product with an article number."""
    return {"product": await _product(opened, body.article_number, is_deleted=body.deleted)}


@app.post("/api/{prefix}/v1/products", status_code=201)
async def create_product(opened: Opened, user_id: Caller, body: CreateBody) -> IdOut:
    """Create a product, its master data and the action."""
    given = body.product.model_dump(exclude_none=True)
    now = datetime.now()  # noqa: DTZ005 - naive, as the interface wants it
    product = Product(
        article_number=body.product.article_number,
        list_id=body.list_id,
        user_id=user_id,
        user_name=user_id,
        data=[ProductData(**given)],
        inserted_at=now,
        updated_at=now,
    )
    opened.add(product)
    try:
        await opened.flush()
    except IntegrityError as error:
        raise HTTPException(409, "The article number already exists") from error
    opened.add(
        Action(
            product_id=product.id,
            user_id=user_id,
            category="created",
            changes=given,
            at=now,
        )
    )
    await opened.commit()
    return IdOut(id=product.id)


@app.put("/api/{prefix}/v1/products")
async def update_product(opened: Opened, user_id: Caller, body: UpdateBody) -> IdOut:
    """Change the fields given and write the action."""
    product = await _product(opened, body.article_number, is_deleted=False)
    given = body.product.model_dump(exclude_none=True)
    for name, value in given.items():
        setattr(product.data[0], name, value)
    product.updated_at = datetime.now()  # noqa: DTZ005 - naive, as the interface wants it
    action = Action(
        product_id=product.id,
        user_id=user_id,
        category="updated",
        changes=given,
        at=product.updated_at,
    )
    opened.add(action)
    await opened.commit()
    return IdOut(id=action.id)


async def _product(opened: AsyncSession, article_number: str, *, is_deleted: bool) -> Product:
    query = (
        select(Product)
        .options(selectinload(Product.data))
        .where(Product.article_number == article_number, Product.is_deleted == is_deleted)
    )
    product = (await opened.scalars(query)).one_or_none()
    if product is None:
        raise HTTPException(404, "No such product")
    return product
