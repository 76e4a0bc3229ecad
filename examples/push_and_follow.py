"""Push articles from a CSV file into stammdaten, then follow what has changed there since the last run."""

import argparse
import csv
import json
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus, client
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

CONNECTIONS, TRIES, WAIT_SECONDS, STATE = 8, 10, 2, Path("state.json")
FEEDS = ("include_archived", "deleted")  # two queries, each with a cursor of its own: together they show everything
SHOWN = ("id", "article_number", "designation", "ctn", "status", "is_unlisted", "is_deleted", "updated_at")


class Service(threading.local):
    """An instance of the service; every thread that asks keeps a connection of its own."""

    def __init__(self, url: str, token: str) -> None:
        base = urlsplit(url)
        connect = client.HTTPSConnection if base.scheme == "https" else client.HTTPConnection
        self.connection, self.path = connect(base.netloc, timeout=30), base.path.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, tries: int = TRIES) -> tuple[int, Any]:
        """Return status and answer; ask again while the service is away: nothing here is harmed by being done twice."""
        try:
            self.connection.request(method, self.path + path, body and json.dumps(body), self.headers)
            response = self.connection.getresponse()
            answer, wait = response.read(), int(response.headers.get("Retry-After", WAIT_SECONDS))
            if response.status < HTTPStatus.BAD_GATEWAY:
                return response.status, json.loads(answer)
        except (OSError, client.HTTPException):
            self.connection.close()  # the next request opens it again
            wait = WAIT_SECONDS
        if tries == 1:
            sys.exit("The service is away. Run this again later.")
        time.sleep(wait)
        return self.ask(method, path, body, tries - 1)

    def get(self, path: str, **query: object) -> Any:
        status, answer = self.ask("GET", f"{path}?{urlencode(query)}")
        return answer if status == HTTPStatus.OK else sys.exit(f"{path}: {status} {answer['reason']}")

    def push(self, list_id: int, number: str, designation: str) -> str:
        """Create a product, or update the one that has the article number; say what was refused, and why."""
        product = {"article_number": number, "designation": designation}
        status, answer = self.ask("POST", "/products", {"list_id": list_id, "product": product})
        if status == HTTPStatus.CONFLICT:
            status, answer = self.ask("PUT", "/products", {"article_number": number, "product": product})
        if status < HTTPStatus.BAD_REQUEST:
            return "created" if status == HTTPStatus.CREATED else "updated"
        print(f"{number}: {status} {answer['reason']}", file=sys.stderr)
        return "failed"

    def follow(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        """Bring cursors and copy up to date; return what came."""
        came = []
        for feed in FEEDS:
            # Page 1 after the newest updated_at seen, sent back as the very string that came, until nothing comes.
            while page := self.get("/products", timestamp=state[feed], **{feed: "true"})["products"]:
                state["copy"] |= {str(product["id"]): product for product in page}
                state[feed] = page[-1]["updated_at"]
                came += page
        return came


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=f"{__doc__} STAMMDATEN_TOKEN holds the token.")
    parser.add_argument("url", help="of the instance, e.g. http://127.0.0.1:8000/api/demo/v1")
    parser.add_argument("articles", type=Path, help="CSV file with a header; separated by ; or , or tabs")
    parser.add_argument("--number", metavar="COLUMN", default="article_number", help="holds the article number")
    parser.add_argument("--designation", metavar="COLUMN", default="designation", help="holds the designation")
    parser.add_argument("--list-id", type=int, help="list for new products; the first one if not given")
    given = parser.parse_args()
    with given.articles.open(encoding="utf-8-sig", newline="") as file:
        delimiter = max(";,\t", key=file.readline().count)
        file.seek(0)
        rows = csv.DictReader(file, delimiter=delimiter, restval="")
        articles = {row[given.number].strip(): row[given.designation].strip() for row in rows}
    service = Service(given.url, os.environ["STAMMDATEN_TOKEN"])
    list_id = given.list_id or int(service.get("/lists")["lists"][0]["id"])
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        done = Counter(pool.map(lambda article: service.push(list_id, *article), articles.items()))
    state = json.loads(STATE.read_text()) if STATE.exists() else {**dict.fromkeys(FEEDS, "2000-01-01"), "copy": {}}
    followed = service.follow(state)
    with Path("changes.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, SHOWN, extrasaction="ignore")
        table.writeheader()
        table.writerows({**(each["classification"] or {}), **each["data"][0], **each} for each in followed)
    STATE.with_suffix(".new").write_text(json.dumps(state))
    STATE.with_suffix(".new").replace(STATE)  # whole or not at all
    print(f"{done['created']} created, {done['updated']} updated, {done['failed']} failed, {len(followed)} followed")
