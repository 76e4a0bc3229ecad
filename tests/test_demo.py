"""`stammdaten demo`, as a newcomer runs it: in a process of its own, its first call made as printed."""

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from stammdaten.settings import Settings
from tests.processes import PATIENCE, STAMMDATEN, Served, command, environment, free_port

PREFIXES = ("demo", "demo-training", "demo-test")
GUIDE = (Path(__file__).parents[1] / "docs" / "exchange.md").read_text()
(SAMPLE,) = re.findall(r"^```csv\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
*EXAMPLES, NIGHTLY = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


def call(line: str) -> httpx.Response:
    """Make the call that a line for curl asks for."""
    name, option, header, url = shlex.split(line)
    assert (name, option) == ("curl", "-H")
    key, _, value = header.partition(": ")
    return httpx.get(url, headers={key: value}, timeout=PATIENCE)


@contextmanager
def demo_served(settings: Settings, port: int) -> Iterator["subprocess.Popen[str]"]:
    """`stammdaten demo --serve`, not waited for."""
    process = subprocess.Popen(
        [STAMMDATEN, "demo", "--serve"],
        env=environment(settings, port=port),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until_ready(port: int) -> None:
    """Wait until a service answers there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("not ready")


def all_products(client: httpx.Client, **query: str) -> list[dict[str, Any]]:
    """Return what a filter shows, page by page: nobody writes meanwhile."""
    found: list[dict[str, Any]] = []
    for page in itertools.count(1):
        answer = client.get("/products", params={"timestamp": "2020-01-01", "page": page, **query})
        found += answer.json()["products"]
        if len(found) < 30 * page:
            break
    return found


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """Hold what the command printed that made the demo account."""
    return []


@pytest.fixture(scope="module")
def demo(printed: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Make the demo account in a new home, and serve it."""
    settings = Settings(home=tmp_path_factory.mktemp("demo"))
    printed += command(settings, "demo").splitlines()
    with Served(settings) as served:
        yield served


@pytest.fixture
def erp(demo: Served, printed: list[str]) -> Iterator[httpx.Client]:
    """Speak with the token that was printed."""
    with demo.client("demo", printed[3]) as client:
        yield client


class TestDemo:
    """What the command prints, and that it makes the account once."""

    def test_prints_each_thing_on_a_line_of_its_own(self, demo: Served, printed: list[str]) -> None:
        assert len(printed) == 6
        assert printed[1] == "http://127.0.0.1:8000"
        assert re.fullmatch(r"st_[A-Za-z0-9_-]{43}", printed[3])
        products = "http://127.0.0.1:8000/api/demo/v1/products?timestamp=2020-01-01"
        assert printed[5] == f'curl -H "Authorization: Bearer {printed[3]}" "{products}"'

    def test_makes_an_account_that_agrees_with_itself(self, fresh: Settings) -> None:
        command(fresh, "demo")

        instances = command(fresh, "instance", "list").splitlines()
        assert sorted(line.split("\t")[0] for line in instances) == sorted(PREFIXES)
        assert command(fresh, "check") == "everything agrees\n"

    def test_a_second_run_creates_nothing(self, demo: Served, erp: httpx.Client) -> None:
        before = all_products(erp, include_archived="true")
        contacts = erp.get("/contacts").json()["total"]

        again = command(demo.settings, "demo").splitlines()

        assert all_products(erp, include_archived="true") == before
        with demo.client("demo", again[3]) as second:
            assert second.get("/contacts").json()["total"] == contacts
        assert len(command(demo.settings, "instance", "list").splitlines()) == len(PREFIXES)

    def test_the_tokens_expire(self, demo: Served) -> None:
        for line in command(demo.settings, "token", "list", "--prefix", "demo").splitlines():
            _, user, created, expires, revoked = line.split("\t")

            lasts = datetime.fromisoformat(expires) - datetime.fromisoformat(created)
            assert (user, lasts.days, revoked) == ("erp", 7, "-")

    def test_creates_nothing_beside_other_instances(self, tmp_path: Path) -> None:
        settings = Settings(home=tmp_path)
        command(settings, "instance", "create", "acme")
        before = command(settings, "instance", "list")

        said = command(settings, "demo", expect=1)

        assert said == "This database is in use and has no instance 'demo': nothing was created.\n"
        assert command(settings, "instance", "list") == before


class TestServe:
    """`--serve`: what is printed is seen before the server takes over, and the call works as pasted."""

    def test_serves_what_it_printed(self, tmp_path: Path) -> None:
        port = free_port()
        with demo_served(Settings(home=tmp_path), port) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline().rstrip("\n") for _ in range(6)]
            wait_until_ready(port)

            answer = call(lines[5])

            assert lines[1] == f"http://127.0.0.1:{port}"
            assert answer.status_code == 200
            assert len(answer.json()["products"]) == 30
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0

    def test_serves_beside_other_instances(self, tmp_path: Path) -> None:
        settings, port = Settings(home=tmp_path), free_port()
        command(settings, "instance", "create", "acme")
        with demo_served(settings, port) as process:
            wait_until_ready(port)
            process.send_signal(signal.SIGTERM)
            printed, said = process.communicate(timeout=PATIENCE)

            assert process.returncode == 0
            assert printed == ""
            assert said.startswith("This database is in use and has no instance 'demo': nothing was created.\n")

    def test_says_that_the_port_is_in_use(self, demo: Served) -> None:
        with demo_served(demo.settings, demo.port) as process:
            _, said = process.communicate(timeout=PATIENCE)

            assert process.returncode != 0
            assert "address already in use" in said


class TestData:
    """What a newcomer finds: something of everything that the interface shows."""

    def test_products_have_every_kind_of_classification(self, erp: httpx.Client) -> None:
        products = all_products(erp, include_archived="true")

        records = [product["classification"] for product in products if product["classification"]]
        assert len(products) >= 250
        assert len(records) < len(products)
        assert {record["type"] for record in records} == {"cmp_vzta", "grt_vzta", "manual", "special"}
        assert {record["status"] for record in records} == {"classified", "review", "expired"}
        assert {record["is_fixed"] for record in records} == {True, False}
        assert {record["ctn_format"] for record in records} == {"8-digit", "10-digit"}

    def test_products_are_as_varied_as_real_ones(self, erp: httpx.Client) -> None:
        current, live = all_products(erp, include_archived="true"), all_products(erp)

        assert len(all_products(erp, deleted="true")) == 1
        assert len(current) - len(live) == 2  # archived ones
        assert any(product["eccns"] for product in live)
        assert {product["is_unlisted"] for product in live} == {True, False}
        data = [product["data"][0] for product in current]
        assert len({each["designation"] for each in data}) == len(data)
        assert all(each["designation2"] for each in data)
        lists = erp.get("/lists").json()["lists"]
        filled = {int(each["id"]) for each in lists if each["slug"] != "spare-parts"}
        assert {product["list_id"] for product in current} == filled
        assert len(lists) == len(filled) + 1

    def test_contacts_are_of_many_countries(self, erp: httpx.Client) -> None:
        found = erp.get("/contacts", params={"per_page": 500}).json()["contacts"]
        archived = erp.get("/contacts", params={"is_archived": "true"}).json()["contacts"]

        assert len(found) >= 50
        assert len({contact["country_or_region"] for contact in found}) >= 30
        assert len(archived) == 3
        assert any(contact["is_watchlist"] for contact in found)
        assert any(len(contact["notes"]) > 1 for contact in found)

    def test_contacts_show_every_sanctions_status(self, erp: httpx.Client) -> None:
        found = erp.get("/contacts", params={"per_page": 500}).json()["contacts"]

        assert {contact["status"] for contact in found} == {"green", "yellow", "red", "gray", "black"}

    @pytest.mark.parametrize("prefix", PREFIXES[1:])
    def test_the_other_instances_have_a_few_of_each(self, demo: Served, prefix: str) -> None:
        token = demo.command("token", "create", "--prefix", prefix, "--user", "erp").splitlines()[-1]
        with demo.client(prefix, token) as client:
            assert 5 < len(all_products(client)) < 30
            assert 5 < client.get("/contacts").json()["total"] < 30


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples call curl")
class TestGuide:
    """docs/exchange.md: what it has for the shell runs as pasted, against the demo."""

    Paste = Callable[[str, str], "subprocess.CompletedProcess[str]"]

    @pytest.fixture
    def tester(self, demo: Served) -> Iterator[httpx.Client]:
        token = demo.command("token", "create", "--prefix", "demo-test", "--user", "erp").splitlines()[-1]
        with demo.client("demo-test", token) as client:
            yield client

    @pytest.fixture
    def paste(self, tester: httpx.Client, tmp_path: Path) -> Paste:
        given = {"BASE": str(tester.base_url).rstrip("/"), "TOKEN": tester.headers["Authorization"].split()[1]}

        def run(script: str, articles: str) -> "subprocess.CompletedProcess[str]":
            (tmp_path / "articles.csv").write_text(articles)
            return subprocess.run(
                ["/bin/sh", "-c", script],
                env={**os.environ, "NO_PROXY": "*", **given},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )

        return run

    def test_sends_waits_and_fetches(self, paste: Paste, tmp_path: Path) -> None:
        ended = paste("".join(EXAMPLES), SAMPLE)

        assert ended.returncode == 0, ended.stderr
        _, over, *report = ended.stdout.splitlines()
        standing = json.loads(over)["import"]
        assert (standing["state"], standing["line"], standing["refused"]) == ("done", 3, 0)
        assert report == ["line;article_number;column;what;allowed"]
        (export,) = tmp_path.glob("stammdaten___spare-parts.*.csv")
        assert "\nSEAL-40;" in export.read_text()
        assert (tmp_path / "changed.csv").read_text().startswith("article_number;")
        assert (tmp_path / "articles.xlsx").read_bytes().startswith(b"PK")

    def test_imports_every_night(self, paste: Paste, tester: httpx.Client) -> None:
        ended = paste(NIGHTLY, SAMPLE.replace("SEAL-40", "SEAL-45"))

        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert tester.post("/products/find", json={"article_number": "SEAL-45"}).status_code == 200

    @pytest.mark.parametrize(
        ("articles", "said"),
        [
            pytest.param("article_number;description1\nSEAL-50;Seal\nSEAL-55;\n", "\n3;SEAL-55;", id="a row"),
            pytest.param('article_number;description1\nSEAL-50;Seal\nSEAL-55;"\n', "\n3;", id="the file"),
        ],
    )
    def test_imports_nothing_of_which_something_is_wrong(
        self, paste: Paste, tester: httpx.Client, articles: str, said: str
    ) -> None:
        ended = paste(NIGHTLY, articles)

        assert ended.returncode == 1
        assert said in ended.stdout
        assert tester.post("/products/find", json={"article_number": "SEAL-50"}).status_code == 404

    def test_says_why_the_service_refuses(self, paste: Paste) -> None:
        ended = paste(f"TOKEN=st_wrong\n{NIGHTLY}", SAMPLE)

        assert ended.returncode == 1
        assert json.loads(ended.stdout) == {"reason": "A Bearer token is required."}
