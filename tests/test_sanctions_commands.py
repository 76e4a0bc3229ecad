"""`stammdaten sanctions` and the commands for contacts that go with it: what they print, do, and refuse.

As in `test_commands`: the real entry point, in this process. What is downloaded comes from a server on loopback.
"""

import csv
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stammdaten.settings import Settings
from tests.made_lists import FIRM, WANTED, un_list
from tests.test_commands import done, execute, refused, run
from tests.test_faults import PREFIX, make_account, rows_of

HEADER = "id,schema,name,aliases,countries\n"
BOOK = "contact_uid;first_name;last_name;comment;is_watchlist\n"


@pytest.fixture
def settings(fresh: Settings) -> Settings:
    """A database with the instance `acme`, and `acme-test`."""
    make_account(fresh)
    return fresh


@pytest.fixture
def listed(settings: Settings, tmp_path: Path) -> Settings:
    """The same with a list in force."""
    done(settings, "sanctions", "load", "un", file_of(tmp_path, un_list()))
    return settings


def file_of(folder: Path, text: str | bytes, name: str = "list") -> str:
    """Write a file."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def versions(settings: Settings) -> list[tuple[Any, ...]]:
    """Return source, state and number of entries of all versions."""
    return rows_of(settings, "SELECT source, state, entries FROM list_versions ORDER BY id")


class Publisher:
    """A server that offers files by path, each with a mark that changes with it, and keeps what it answered."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.answered: list[tuple[str, int]] = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher._answer(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def url(self, path: str) -> str:
        """Return the address of a file."""
        return f"http://127.0.0.1:{self._server.server_port}/{path}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, asked: BaseHTTPRequestHandler) -> None:
        path = asked.path.removeprefix("/")
        body = self.files.get(path, "").encode()
        mark = f'"{hash(body)}"'
        status = 404 if path not in self.files else 304 if asked.headers["If-None-Match"] == mark else 200
        self.answered.append((path, status))
        asked.send_response(status)
        asked.send_header("ETag", mark)
        asked.send_header("Content-Length", str(len(body) if status == 200 else 0))
        asked.end_headers()
        if status == 200:
            asked.wfile.write(body)


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    """A publisher of lists on loopback."""
    one = Publisher()
    yield one
    one.close()


class TestLoad:
    """`sanctions load`."""

    def test_tells_what_changed(self, settings: Settings, tmp_path: Path) -> None:
        first = file_of(tmp_path, un_list(), "first")
        second = file_of(tmp_path, un_list([(WANTED[0], "Somebody Else", "")], [], day="2026-11-02"), "second")

        lines = [done(settings, "sanctions", "load", "un", path) for path in (first, first, second)]

        assert lines == [
            ["un\t2026-11-01\t2 entries\t2 added, 0 changed, 0 removed"],
            ["un\tunchanged\t2 entries"],
            ["un\t2026-11-02\t1 entry\t0 added, 1 changed, 1 removed"],
        ]

    def test_takes_a_folder_of_files(self, settings: Settings, tmp_path: Path) -> None:
        (tmp_path / "ofac").mkdir()
        row = '6900001,"QUISTORP, Zoltan","individual","SDGT",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n\x1a'
        file_of(tmp_path / "ofac", row, "sdn.csv")
        file_of(tmp_path / "ofac", '6900001,1,"Main Street 1","Szeged","Hungary",-0- \r\n\x1a', "add.csv")
        file_of(tmp_path / "ofac", '6900001,1,"aka","QUISTORP, Zolly",-0- \r\n\x1a', "alt.csv")

        (line,) = done(settings, "sanctions", "load", "ofac-sdn", str(tmp_path / "ofac"))

        assert line == "ofac-sdn\tundated\t1 entry\t1 added, 0 changed, 0 removed"

    def test_takes_an_address_where_that_is_allowed(self, settings: Settings, publisher: Publisher) -> None:
        publisher.files["un.xml"] = un_list()
        words = ("sanctions", "load", "un", publisher.url("un.xml"))

        said = refused(settings, *words)
        allowed = [run(settings, *words, sanctions_private=1) for _ in range(2)]

        assert said.startswith("un was not loaded: ")
        assert "not public" in said
        assert [ended.out for ended in allowed] == [
            "un\t2026-11-01\t2 entries\t2 added, 0 changed, 0 removed\n",
            "un\tunchanged\t2 entries\n",
        ]
        assert publisher.answered == [("un.xml", 200), ("un.xml", 304)]

    def test_lets_a_list_from_an_address_shrink_only_if_told(self, settings: Settings, publisher: Publisher) -> None:
        words = ("sanctions", "load", "opensanctions", publisher.url("os.csv"))
        lines = [f"Q{number},Person,Xaviero Bruckmoser {number},,at\n" for number in range(100)]
        publisher.files["os.csv"] = HEADER + "".join(lines)
        run(settings, *words, sanctions_private=1)
        publisher.files["os.csv"] = HEADER + lines[0]

        said = refused(settings, *words, sanctions_private=1)
        ended = run(settings, *words, "--may-shrink", sanctions_private=1)

        assert "--may-shrink" in said
        assert ended.out == "opensanctions\tundated\t1 entry\t0 added, 0 changed, 99 removed\n"

    def test_keeps_a_block_list_in_its_instance(self, listed: Settings, publisher: Publisher, tmp_path: Path) -> None:
        publisher.files["blocked.csv"] = "name\nHinterwald OHG\n"
        path = file_of(tmp_path, publisher.files["blocked.csv"], "blocked.csv")
        words = ("sanctions", "load", "block-list")

        done(listed, *words, path, "--prefix", PREFIX)

        refused(listed, *words, path)
        refused(listed, *words, publisher.url("blocked.csv"), "--prefix", PREFIX, sanctions_private=1)
        refused(listed, "sanctions", "load", "un", path, "--prefix", PREFIX)
        refused(listed, *words, path, "--prefix", "nobody")
        shown = [done(listed, "sanctions", "status", *more) for more in ((), ("--prefix", PREFIX))]
        assert [[line.split("\t")[0] for line in lines] for lines in shown] == [["un"], ["block-list"]]
        assert done(listed, "sanctions", "status", "--prefix", f"{PREFIX}-test") == []
        assert publisher.answered == []

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            ("nato", un_list()),
            ("eu", un_list()),
            ("un", un_list()[:-30]),
            ("un", ""),
            ("un", b"\xff\xfe\0"),
            ("un", None),
        ],
    )
    def test_refuses_what_is_no_such_list(
        self, listed: Settings, tmp_path: Path, source: str, text: str | bytes | None
    ) -> None:
        path = str(tmp_path / "nowhere") if text is None else file_of(tmp_path, text, "broken")
        before = versions(listed)

        said = refused(listed, "sanctions", "load", source, path)

        assert source in said or path in said
        assert versions(listed) == before


class TestStatus:
    """`sanctions status`."""

    def test_shows_what_is_in_force(self, listed: Settings) -> None:
        execute(listed, "UPDATE list_versions SET checked_at = '2001-01-01T00:00:00.000000Z'")

        (line,) = done(listed, "sanctions", "status")

        source, day, entries, digest, age = line.split("\t")
        assert (source, day, entries, len(digest)) == ("un", "2026-11-01", "2", 64)
        assert float(age) > 9_000

    def test_is_empty_without_lists(self, settings: Settings) -> None:
        assert done(settings, "sanctions", "status") == []


class TestUpdate:
    """`sanctions update`."""

    def test_downloads_nothing_again_that_has_not_changed(self, settings: Settings, publisher: Publisher) -> None:
        publisher.files = {"un.xml": un_list(), "os.csv": f"{HEADER}Q1,Person,Xaviero Bruckmoser,,at\n"}
        lists = f"un={publisher.url('un.xml')} opensanctions={publisher.url('os.csv')}"

        ended = []
        for day in (1, 1, 2):
            publisher.files["un.xml"] = un_list(day=f"2026-11-0{day}")
            ended.append(run(settings, "sanctions", "update", sanctions=lists, sanctions_private=1))

        assert [one.code for one in ended] == [0, 0, 0]
        assert ended[1].out == "un\tunchanged\t2 entries\nopensanctions\tunchanged\t1 entry\n"
        assert ended[2].out.startswith("un\t2026-11-02\t2 entries\t0 added")
        asked = [("un.xml", 200), ("os.csv", 200), ("un.xml", 304), ("os.csv", 304), ("un.xml", 200), ("os.csv", 304)]
        assert publisher.answered == asked

    def test_confirms_what_has_not_changed(self, settings: Settings, publisher: Publisher) -> None:
        publisher.files["un.xml"] = un_list()
        more: dict[str, Any] = {"sanctions": f"un={publisher.url('un.xml')}", "sanctions_private": 1}
        run(settings, "sanctions", "update", **more)
        execute(settings, "UPDATE list_versions SET checked_at = '2001-01-01T00:00:00.000000Z'")

        run(settings, "sanctions", "update", **more)

        (line,) = done(settings, "sanctions", "status")
        assert line.endswith("\t0.0")
        assert publisher.answered[-1] == ("un.xml", 304)

    @pytest.mark.parametrize("broken", [None, un_list()[:-30]])
    def test_of_one_that_fails_leaves_the_others_updated(
        self, settings: Settings, publisher: Publisher, broken: str | None
    ) -> None:
        publisher.files["os.csv"] = f"{HEADER}Q1,Person,Xaviero Bruckmoser,,at\n"
        if broken is not None:
            publisher.files["un.xml"] = broken
        lists = f"un={publisher.url('un.xml')} opensanctions={publisher.url('os.csv')}"

        ended = run(settings, "sanctions", "update", sanctions=lists, sanctions_private=1)

        assert (ended.code, ended.out) == (1, "opensanctions\tundated\t1 entry\t1 added, 0 changed, 0 removed\n")
        assert ended.err.startswith("un was not updated: ")
        assert ended.err.endswith("Not updated: un.\n")
        assert versions(settings) == [("opensanctions", "current", 1)]

    def test_is_refused_without_lists_and_with_unknown_ones(self, settings: Settings) -> None:
        assert refused(settings, "sanctions", "update") == "STAMMDATEN_SANCTIONS names no list."
        assert "nato" in refused(settings, "sanctions", "update", sanctions="nato", code=2)
        refused(settings, "sanctions", "update", sanctions="block-list=http://127.0.0.1:9/x", code=2)


class TestSettings:
    """`sanctions settings`."""

    def test_are_shown_and_changed(self, listed: Settings) -> None:
        words = ("sanctions", "settings", "--prefix", PREFIX)
        before = json.loads(done(listed, *words)[0])

        done(listed, *words, "--threshold", "0.7", "--most-age-days", "3", "--sources", "un, eu")
        done(listed, *words, "--sources", "un, eu")

        changed = {"threshold": 0.7, "most_age_days": 3, "sources": ["un", "eu"]}
        assert json.loads(done(listed, *words)[0]) == before | changed
        assert json.loads(done(listed, *words, "--sources", "")[0])["sources"] == []
        assert json.loads(done(listed, *words[:-1], f"{PREFIX}-test")[0]) == before
        jobs = rows_of(listed, "SELECT kind FROM jobs WHERE kind = 'screen all contacts'")
        assert len(jobs) == 2

    @pytest.mark.parametrize(
        "wrong",
        [
            ("--threshold", "0.2"),
            ("--threshold", "nan"),
            ("--certain", "inf"),
            ("--certain", "0.51"),
            ("--most-age-days", "0"),
            ("--rescreen-days", "99999"),
            ("--sources", "nato"),
            ("--sources", "block-list"),
        ],
    )
    def test_refuse_what_makes_no_sense(self, listed: Settings, wrong: tuple[str, str]) -> None:
        said = refused(listed, "sanctions", "settings", "--prefix", PREFIX, *wrong)

        assert wrong[0].removeprefix("--").replace("-", "_") in said.partition(";")[0]


class TestChecks:
    """`sanctions checks`."""

    def test_are_csv_without_formulas(self, listed: Settings, tmp_path: Path) -> None:
        names = ["=1+1", "+49", "-x", "@SUM(A1)", 'Quo"te; semi', "Lindgren"]
        rows = [
            ["contact_uid", "last_name"],
            *([f"={place}" if place == 0 else f"K-{place}", name] for place, name in enumerate(names)),
        ]
        text = io.StringIO()
        csv.writer(text, delimiter=";").writerows(rows)
        done(listed, "contact", "import", "--prefix", PREFIX, file_of(tmp_path, text.getvalue(), "book"))

        out = run(listed, "sanctions", "checks", "--prefix", PREFIX).out

        shown = list(csv.DictReader(io.StringIO(out), delimiter=";", strict=True))
        assert [row["name"] for row in shown] == ["'=1+1", "'+49", "'-x", "'@SUM(A1)", 'Quo"te; semi', "Lindgren"]
        assert shown[0]["contact_uid"] == "'=0"
        last = shown[-1]
        assert (last["why"], last["outcome"], last["status"]) == ("created", "clear", "green")
        assert (last["lists"], last["matches"]) == ("un 2026-11-01 (2)", "0")
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in shown for cell in row.values())

    def test_hold_a_comment_in_its_cell(self, listed: Settings, tmp_path: Path) -> None:
        comment = 'line\r\nbreak\rand "quote"; semi'
        match_id = named_contact(listed, tmp_path)["id"]
        done(listed, "contact", "decide", "--prefix", PREFIX, "K-1", str(match_id), "rejected", "--comment", comment)

        out = run(listed, "sanctions", "checks", "--prefix", PREFIX).out

        shown = list(csv.DictReader(io.StringIO(out, newline=""), delimiter=";", strict=True))
        assert [row["why"] for row in shown] == ["created", "decided"]
        assert shown[1]["comment"].endswith(f": {comment}")

    def test_begin_where_told(self, listed: Settings, tmp_path: Path) -> None:
        named_contact(listed, tmp_path)
        words = ("sanctions", "checks", "--prefix", PREFIX, "--since")

        assert len(done(listed, *words, "2026-01-01")) == 2
        assert len(done(listed, *words, "2999-01-01T00:00:00Z")) == 1
        assert refused(listed, *words, "yesterday").startswith("since")
        assert len(done(listed, "sanctions", "checks", "--prefix", f"{PREFIX}-test")) == 1


def import_book(settings: Settings, folder: Path, text: str | bytes, *, code: int = 0) -> list[list[str]]:
    """Import an address book and return the cells of the report."""
    ended = run(settings, "contact", "import", "--prefix", PREFIX, file_of(folder, text, "book"))
    assert ended.code == code, ended
    assert (ended.err == "") == (code == 0)
    assert "Traceback" not in ended.err
    return [line.split("\t") for line in ended.out.splitlines()]


def contacts(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return all contacts by uid, as the interface shows them."""
    return {
        uid: json.loads(document) for uid, document in rows_of(settings, "SELECT contact_uid, document FROM contacts")
    }


def named_contact(settings: Settings, folder: Path, *, uid: str = "K-1") -> dict[str, Any]:
    """Import a contact named like a listed person and return its match."""
    import_book(settings, folder, f"{BOOK}{uid};Zoltan Barnabas;Quistorp-Vandermeulen;;\n")
    (match,) = contacts(settings)[uid]["matches"]
    found: dict[str, Any] = match
    return found


class TestImport:
    """`contact import`."""

    def test_creates_and_updates_with_a_line_each(self, listed: Settings, tmp_path: Path) -> None:
        first = import_book(
            listed,
            tmp_path,
            f"{BOOK}K-1;Zoltan Barnabas;Quistorp-Vandermeulen;A;1\nK-2;;{FIRM[1]};;\nK-3;;Lindgren;;0\n",
        )
        second = import_book(listed, tmp_path, "contact_uid;comment\nK-1;\nK-3;B\n")

        assert first == [
            ["2", "K-1", "created", "red"],
            ["3", "K-2", "created", "red"],
            ["4", "K-3", "created", "green"],
        ]
        assert second == [["2", "K-1", "updated", "red"], ["3", "K-3", "updated", "green"]]
        found = contacts(listed)
        assert (found["K-1"]["comment"], found["K-1"]["is_watchlist"]) == ("", True)
        assert (found["K-3"]["comment"], found["K-3"]["is_watchlist"]) == ("B", False)
        assert found["K-1"]["user_name"] == "operator"

    def test_reads_what_other_programs_write(self, listed: Settings, tmp_path: Path) -> None:
        text = (
            "\ufeffcontact_uid;first_name;last_name;comment\r\n"
            'K-1;"Zoë ""Z""";"Lund;gren";"two\r\nlines"\r\n\r\n'
            "K-2;;Müller;\r\n"
        )

        lines = import_book(listed, tmp_path, text)

        assert [line[1:] for line in lines] == [["K-1", "created", "green"], ["K-2", "created", "green"]]
        assert [line[0] for line in lines] == ["3", "5"]
        found = contacts(listed)["K-1"]
        assert (found["first_name"], found["last_name"]) == ('Zoë "Z"', "Lund;gren")
        assert found["comment"] == "two\r\nlines"

    def test_refuses_lines_and_takes_the_others(self, listed: Settings, tmp_path: Path) -> None:
        rows = [
            "K-1;;Lindgren;;",
            "K-2;;Lindgren;",
            "K-3;;Lindgren;;;",
            "K-4;;;;",
            ";;Lindgren;;",
            "K-5;;Lindgren;;maybe",
            "K-6;;Lind\0gren;;",
            "K\0-7;;Lindgren;;",
            f"{'K' * 300};;Lindgren;;",
            "K-1;;Lundgren;;TRUE",
        ]

        lines = import_book(listed, tmp_path, BOOK + "\n".join(rows), code=1)

        assert [line[0] for line in lines] == [str(number) for number in range(2, 12)]
        assert [line[2] for line in lines] == ["created", *["refused"] * 8, "updated"]
        assert "has 4 cells" in lines[1][3]
        found = contacts(listed)
        assert found.keys() == {"K-1"}
        assert (found["K-1"]["last_name"], found["K-1"]["is_watchlist"]) == ("Lundgren", True)

    def test_keeps_to_a_line_and_its_cells_whatever_a_uid_holds(self, listed: Settings, tmp_path: Path) -> None:
        lines = import_book(listed, tmp_path, f'{BOOK}"K\n9\tK-9\tcreated\tgreen";;Lindgren;;\n', code=1)

        assert [len(line) for line in lines] == [4]
        assert lines[0][2] == "refused"

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"\n",
            b"last_name\nLindgren\n",
            b"contact_uid;shoe_size\nK-1;43\n",
            b"contact_uid;status\nK-1;green\n",
            b"contact_uid;last_name;last_name\nK-1;A;B\n",
            b"contact_uid,last_name\nK-1,Lindgren\n",
            b"contact_uid;last_name\nK-1;M\xfcller\n",
            "contact_uid;last_name\nK-1;Müller\n".encode("utf-16"),
            b'contact_uid;last_name\nK-1;"never closed\n',
        ],
    )
    def test_refuses_a_file_that_is_none(self, listed: Settings, tmp_path: Path, text: bytes) -> None:
        assert import_book(listed, tmp_path, text, code=1) == []
        assert contacts(listed) == {}

    def test_takes_a_header_alone(self, listed: Settings, tmp_path: Path) -> None:
        assert import_book(listed, tmp_path, BOOK) == []

    def test_takes_a_thousand_rows(self, listed: Settings, tmp_path: Path) -> None:
        rows = [f"K-{number};;Lindgren {number};;" for number in range(1_000)]

        lines = import_book(listed, tmp_path, BOOK + "\n".join(rows))

        assert [line[1:3] for line in lines] == [[f"K-{number}", "created"] for number in range(1_000)]
        assert rows_of(listed, "SELECT count(*) FROM contacts WHERE status = 'green'") == [(1_000,)]
        assert done(listed, "check") == ["everything agrees"]

    def test_says_gray_without_lists(self, settings: Settings, tmp_path: Path) -> None:
        assert import_book(settings, tmp_path, f"{BOOK}K-1;;Lindgren;;\n") == [["2", "K-1", "created", "gray"]]

    def test_is_refused_without_a_file_or_an_instance(self, settings: Settings, tmp_path: Path) -> None:
        assert "no file" in refused(settings, "contact", "import", "--prefix", PREFIX, str(tmp_path / "nowhere"))
        assert "not a regular" in refused(settings, "contact", "import", "--prefix", PREFIX, str(tmp_path))
        refused(settings, "contact", "import", "--prefix", "nobody", file_of(tmp_path, BOOK))


class TestMatches:
    """`contact matches`."""

    def test_are_a_line_each_those_of_the_watchlist_first(self, listed: Settings, tmp_path: Path) -> None:
        match = named_contact(listed, tmp_path)
        import_book(listed, tmp_path, f"{BOOK}K-2;;Lindgren;;1\nK-3;;Lundgren;;0\n")

        lines = [json.loads(line) for line in done(listed, "contact", "matches", "--prefix", PREFIX)]

        names = {"contact_uid": "K-1", "full_name": WANTED[1], "status": "red", "is_watchlist": False}
        assert lines[0]["contact_uid"] == "K-2"
        assert lines[0]["match"] is None
        assert lines[1:] == [names | {"match": match}]
        assert done(listed, "contact", "matches", "--prefix", f"{PREFIX}-test") == []

    def test_that_are_open_end_with_1_and_a_sentence(self, listed: Settings, tmp_path: Path) -> None:
        match = named_contact(listed, tmp_path)
        words = ("contact", "matches", "--prefix", PREFIX, "--open")

        open_ = run(listed, *words)
        done(listed, "contact", "decide", "--prefix", PREFIX, "K-1", str(match["id"]), "rejected", "--comment", "No.")

        assert (open_.code, open_.err) == (1, "1 match waits for a decision.\n")
        assert json.loads(open_.out)["match"] == match
        assert done(listed, *words) == []


class TestDecide:
    """`contact decide`."""

    def test_prints_the_status(self, listed: Settings, tmp_path: Path) -> None:
        match_id = str(named_contact(listed, tmp_path)["id"])
        words = ("contact", "decide", "--prefix", PREFIX)

        said = [
            done(listed, *words, "K-1", match_id, decision, "--comment", f"Because {decision}.", "--user", "anna")
            for decision in ("rejected", "confirmed", "open")
        ]

        assert said == [["green"], ["red"], ["red"]]
        (match,) = contacts(listed)["K-1"]["matches"]
        assert (match["decision"], match["decided_by"], match["comment"]) == ("open", "anna", "Because open.")
        history = [json.loads(line) for line in done(listed, "contact", "history", "--prefix", PREFIX, "K-1")]
        assert [(one["category"], one["user_name"]) for one in history] == [
            *[("decided", "anna")] * 3,
            ("created", "operator"),
        ]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"decision": "maybe"}, "decision"),
            ({"comment": " "}, "comment"),
            ({"comment": "x" * 100_000}, "comment"),
            ({"uid": "nobody"}, "Contact not found"),
            ({"match_id": "1"}, "no such match"),
            ({"match_id": "99999999999999999999"}, "no such match"),
            ({"user": "nobody"}, "nobody"),
            ({"prefix": f"{PREFIX}-test"}, "anna"),
            ({"prefix": f"{PREFIX}-test", "user": "operator"}, "Contact not found"),
            ({"prefix": "nobody"}, "nobody"),
        ],
    )
    def test_refuses(self, listed: Settings, tmp_path: Path, given: dict[str, str], said: str) -> None:
        known = {"prefix": PREFIX, "uid": "K-1", "match_id": str(named_contact(listed, tmp_path)["id"])}
        known |= {"decision": "rejected", "comment": "No.", "user": "anna"} | given
        before = contacts(listed)
        words = [known[name] for name in ("uid", "match_id", "decision")]
        options = [word for name in ("prefix", "comment", "user") for word in (f"--{name}", known[name])]

        assert said in refused(listed, "contact", "decide", *options, *words)

        assert contacts(listed) == before
        assert rows_of(listed, "SELECT decision FROM matches") == [("open",)]
