"""`examples/push_and_follow.py`, run as an integrator runs it, against the real command."""

import csv
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stammdaten.products.standing import Deed, delete_products, restore_products
from tests.cast import Member, Service
from tests.processes import Served, free_port

EXAMPLE = Path(__file__).parents[1] / "examples" / "push_and_follow.py"


class Erp:
    """A folder from which the example is run, and the instance that it is run against."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        self.folder = folder
        self.url = url
        self.token = token

    def start(self, articles: str, *options: str) -> "subprocess.Popen[str]":
        """Write the CSV file and run the example."""
        (self.folder / "articles.csv").write_text(articles, encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, str(EXAMPLE), self.url, "articles.csv", *options],
            cwd=self.folder,
            env={**os.environ, "STAMMDATEN_TOKEN": self.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, articles: str, *options: str) -> tuple[str, str]:
        """Run the example to its end; return what it printed and what it said on standard error."""
        with self.start(articles, *options) as process:
            printed, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
        return printed, said

    @property
    def copy(self) -> dict[str, Any]:
        """The copy that the example keeps, by id."""
        state: dict[str, dict[str, Any]] = json.loads((self.folder / "state.json").read_text())
        return state["copy"]

    @property
    def changes(self) -> list[dict[str, str]]:
        """What the last run wrote of what came."""
        with (self.folder / "changes.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def articles(count: int, designation: str = "Schraube") -> str:
    """Make a CSV file of articles A-1, A-2 ..."""
    rows = [f"A-{number};{designation} Größe {number}" for number in range(1, count + 1)]
    return "\n".join(["article_number;designation", *rows, ""])


NOTHING_NEW = articles(0)


def shown(member: Member) -> dict[str, Any]:
    """Return everything that the service shows, by id; nobody writes meanwhile."""
    found: dict[str, Any] = {}
    for flag in ("include_archived", "deleted"):
        for page in itertools.count(1):
            products = member.get("/products", timestamp="2020-01-01", page=page, **{flag: "true"}).json()["products"]
            found |= {str(product["id"]): product for product in products}
            if not products:
                break
    return found


@pytest.fixture(scope="module")
def served(service: Service) -> Iterator[Served]:
    """Serve the tests' database by the real command too: the example needs a port."""
    with Served(service.settings) as process:
        yield process


@pytest.fixture
def erp(served: Served, anna: Member, tmp_path: Path) -> Erp:
    """Set the example up in a folder of its own, with Anna's token."""
    return Erp(tmp_path, f"{served.url}/api/{anna.prefix}/v1", anna.token)


class TestPush:
    """Articles of a file become products."""

    def test_creates_then_updates(self, erp: Erp) -> None:
        first, _ = erp.run(articles(70))
        second, _ = erp.run(articles(71, "Mutter"))

        assert first == "70 created, 0 updated, 0 failed, 70 followed\n"
        assert second == "1 created, 70 updated, 0 failed, 71 followed\n"
        designations = {product["data"][0]["designation"] for product in erp.copy.values()}
        assert designations == {f"Mutter Größe {number}" for number in range(1, 72)}

    def test_says_what_was_refused(self, erp: Erp) -> None:
        printed, said = erp.run("article_number;designation\nA-1;Schraube\nA-2;\n")

        assert printed == "1 created, 0 updated, 1 failed, 1 followed\n"
        assert said == "A-2: 400 product.designation must not be empty\n"

    def test_reads_the_columns_and_the_separator_of_a_file(self, erp: Erp) -> None:
        file = '\ufeffMaterial,Text\n "A/1" ,"Dichtung, flach"\n'

        printed, _ = erp.run(file, "--number", "Material", "--designation", "Text")

        assert printed == "1 created, 0 updated, 0 failed, 1 followed\n"
        assert [row["designation"] for row in erp.changes] == ["Dichtung, flach"]

    def test_of_two_rows_for_one_article_the_last_counts(self, erp: Erp) -> None:
        erp.run("article_number;designation\nA-1;first\nA-1;last\n")

        assert [product["data"][0]["designation"] for product in erp.copy.values()] == ["last"]

    def test_ends_at_once_with_a_wrong_token(self, erp: Erp) -> None:
        erp.token = "st_wrong"
        with erp.start(articles(3)) as process:
            _, said = process.communicate(timeout=60)

        assert process.returncode == 1
        assert said.startswith("/lists: 401 ")


class TestFollow:
    """The copy is what the service has, and each run goes on where the last one stopped."""

    def test_copies_what_is_archived_and_deleted(self, served: Served, anna: Member, erp: Erp) -> None:
        erp.run(articles(35))
        for verb, number in (("archive", "A-1"), ("delete", "A-1"), ("archive", "A-2"), ("delete", "A-3")):
            served.command("product", verb, "--prefix", anna.prefix, number)

        erp.run(NOTHING_NEW)

        assert erp.copy == shown(anna)
        assert len(erp.copy) == 35
        assert sum(product["is_deleted"] for product in erp.copy.values()) == 2

    def test_asks_only_for_what_is_new(self, served: Served, anna: Member, erp: Erp) -> None:
        erp.run(articles(35))
        silent, _ = erp.run(NOTHING_NEW)
        classification = json.dumps({"type": "manual", "ctn": "7318 15 88"})
        served.command("product", "classify", "--prefix", anna.prefix, "A-7", given=classification)

        told, _ = erp.run(NOTHING_NEW)

        assert silent == "0 created, 0 updated, 0 failed, 0 followed\n"
        assert told == "0 created, 0 updated, 0 failed, 1 followed\n"
        (row,) = erp.changes
        assert (row["article_number"], row["ctn"], row["status"]) == ("A-7", "73181588", "classified")

    def test_learns_of_a_restored_product(self, anna: Member, erp: Erp) -> None:
        erp.run(articles(3))
        anna.submit(delete_products, Deed("A-1", "anna"))
        erp.run(NOTHING_NEW)
        anna.submit(restore_products, Deed("A-1", "anna"))

        erp.run(NOTHING_NEW)

        assert erp.copy == shown(anna)
        assert not any(product["is_deleted"] for product in erp.copy.values())


class Busy(BaseHTTPRequestHandler):
    """A service that is away for the first request, and then has one list and no products."""

    is_away = True
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, body = 200, b'{"lists":[{"id":"1"}],"products":[]}'
        if type(self).is_away:
            type(self).is_away = False
            status, body = 503, b'{"reason":"The database is away."}'
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class gives it
        pass


class TestAway:
    """A service that is not there for a while."""

    def test_waits_until_it_is_served(self, service: Service, anna: Member, tmp_path: Path) -> None:
        port = free_port()
        served = Served(service.settings, port=port)
        erp = Erp(tmp_path, f"http://127.0.0.1:{port}/api/{anna.prefix}/v1", anna.token)

        with erp.start(articles(3)) as process, served:
            printed, said = process.communicate(timeout=60)

        assert (printed, said) == ("3 created, 0 updated, 0 failed, 3 followed\n", "")

    def test_asks_again_after_503(self, tmp_path: Path) -> None:
        with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            erp = Erp(tmp_path, f"http://127.0.0.1:{server.server_port}/api/acme/v1", "st_any")

            printed, _ = erp.run(NOTHING_NEW)

            server.shutdown()
        assert printed == "0 created, 0 updated, 0 failed, 0 followed\n"
        assert not Busy.is_away
