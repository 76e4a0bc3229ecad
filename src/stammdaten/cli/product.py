"""`stammdaten product`: what operators and staff do to products until there is a back office."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stammdaten.classification.shapes import read_classification
from stammdaten.cli.running import OPERATOR, ArticleNumber, Prefix, check_file, in_instance, noun, say, submit
from stammdaten.clock import german_stamp, utc_now
from stammdaten.history.queries import actions_on
from stammdaten.http.bodies import json_body, unstorable
from stammdaten.products import files, standing
from stammdaten.products.queries import product_by_article_number
from stammdaten.products.shapes import read_text
from stammdaten.refusals import Invalid, NotFound
from stammdaten.settings import read_settings
from stammdaten.store import Row, Store

app = noun("Products.")

FilePath = Annotated[str, typer.Argument(help="The attached file's path, as `product attach` printed it.")]


async def _document(store: Store, instance_id: int, article_number: str) -> bytes:
    async with store.reading(instance_id) as read:
        for deleted in (False, True):
            document = await product_by_article_number(read, article_number.strip(), deleted=deleted)
            if document is not None:
                return document
    raise NotFound("There is no product with this article_number.")


@app.command()
def show(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Print a product as JSON; the newest deleted one where none is live."""
    document = in_instance(prefix, lambda store, instance_id: _document(store, instance_id, article_number))
    say(document.decode())


@app.command()
def history(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Print the actions on a product, newest first, one a line as JSON."""

    async def read_all(store: Store, instance_id: int) -> list[Row]:
        product_id = json.loads(await _document(store, instance_id, article_number))["id"]
        async with store.reading(instance_id) as read:
            return await actions_on(read, product_id)

    for action_id, category, text, user_name, at, changes in in_instance(prefix, read_all):
        shown = {"id": action_id, "category": category, "text": text, "user_name": user_name, "at": at}
        say(json.dumps({**shown, "changes": json.loads(changes)}, ensure_ascii=False))


@app.command()
def archive(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Archive a product: it is listed only when asked for."""
    submit(prefix, standing.archive_products, standing.Archiving(article_number.strip(), OPERATOR, True))


@app.command()
def unarchive(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Bring an archived product back."""
    submit(prefix, standing.archive_products, standing.Archiving(article_number.strip(), OPERATOR, False))


@app.command()
def delete(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Mark a product as deleted; its number becomes free."""
    submit(prefix, standing.delete_products, standing.Deed(article_number.strip(), OPERATOR))


@app.command()
def restore(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Restore the product deleted last among those of the number; refused while the number is in use."""
    submit(prefix, standing.restore_products, standing.Deed(article_number.strip(), OPERATOR))


@app.command()
def classify(prefix: Prefix, article_number: ArticleNumber) -> None:
    """Record a classification, given as JSON on standard input: type, ctn and what else the type has."""
    body = sys.stdin.buffer.read()
    given: Any = json_body(body)
    if faults := unstorable(body, given):
        raise Invalid(faults)
    record = read_classification(given, today=german_stamp(utc_now())[:10])
    submit(prefix, standing.classify_products, standing.Classifying(article_number.strip(), OPERATOR, record))


@app.command()
def eccn(
    prefix: Prefix,
    article_number: ArticleNumber,
    code: Annotated[list[str] | None, typer.Option(help="An ECCN code; give it several times for several.")] = None,
    comment: Annotated[str, typer.Option(help="A comment.")] = "",
) -> None:
    """Record ECCN codes and a comment; with neither, take the record away."""
    codes = tuple(read_text("code", each) for each in code or [])
    row = standing.Eccns(article_number.strip(), OPERATOR, codes, read_text("comment", comment))
    submit(prefix, standing.record_eccns, row)


@app.command()
def unlist(
    prefix: Prefix,
    article_number: ArticleNumber,
    off: Annotated[bool, typer.Option("--off", help="Take the mark away.")] = False,  # noqa: FBT002 - an option
) -> None:
    """Mark a product as checked and found on no goods list."""
    submit(prefix, standing.unlist_products, standing.Unlisting(article_number.strip(), OPERATOR, not off))


@app.command()
def attach(
    prefix: Prefix,
    article_number: ArticleNumber,
    file: Annotated[Path, typer.Argument(help="The file; its name is kept.", readable=False)],
) -> None:
    """Attach a file, which is copied into STAMMDATEN_HOME; the last line is its path, which serves as its id."""
    check_file(file)
    home = read_settings().home

    async def work(store: Store, instance_id: int) -> str:
        return await files.attach(store, instance_id, standing.Deed(article_number.strip(), OPERATOR), file, home=home)

    say(in_instance(prefix, work))


@app.command()
def detach(prefix: Prefix, article_number: ArticleNumber, path: FilePath) -> None:
    """Detach a file and remove the copy."""
    home = read_settings().home

    async def work(store: Store, instance_id: int) -> None:
        row = standing.Detaching(article_number.strip(), OPERATOR, path)
        await files.detach(store, instance_id, row, home=home)

    in_instance(prefix, work)
