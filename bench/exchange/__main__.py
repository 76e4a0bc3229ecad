"""`make bench-exchange`: measures imports and writes docs/performance.md. Ends with 1 if a target is missed."""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.exchange.articles import Goods, read_goods
from bench.exchange.importing import imports
from bench.exchange.meanwhile import meanwhile
from bench.exchange.report import MARKERS, Findings, results, section
from bench.machine import describe
from bench.postgres import SETTINGS_TEXT, Postgres, postgres
from bench.report import write_report
from bench.screening.results import show

_PARTS = ("import", "meanwhile")
_MOST_BEFORE, _MOST_MEANWHILE = 100_000, 200_000


def main() -> int:
    """Measure, report, and return the exit code."""
    options = _parser().parse_args()
    if not (options.data / "goods").is_dir():
        sys.stderr.write(f"{options.data} has no folder `goods`: nothing to measure on.\n")
        return 1
    # Ended from outside, it ends its servers too and leaves no folder behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    findings = Findings([], [])
    goods = read_goods(options.data)
    with tempfile.TemporaryDirectory(prefix="stammdaten-bench-") as name, ExitStack() as stack:
        folder, version = Path(name), ""
        for engine in ("sqlite", "postgresql"):
            if options.engine in {engine, "both"}:
                server = stack.enter_context(postgres(folder)) if engine == "postgresql" else None
                _measure(options, folder / engine, goods, server, findings)
                if server is not None:
                    (version,) = server.column("postgres", "SHOW server_version")
    conditions = [*describe(version or "not measured"), *_conditions(options)]
    write_report(options.out, section(findings, command=_command(options), conditions=conditions), MARKERS)
    judged = results(findings)
    show("exchange", judged)
    return 0 if all(result.is_met for result in judged) else 1


def _measure(
    options: argparse.Namespace, folder: Path, goods: list[Goods], server: Postgres | None, findings: Findings
) -> None:
    for part in _PARTS:
        place = folder / part
        if options.only in {part, None}:
            place.mkdir(parents=True)
            if part == "import":
                findings.imported.extend(imports(place, goods, rows=options.rows, postgres=server))
            else:
                before, rows = min(options.rows, _MOST_BEFORE), min(2 * options.rows, _MOST_MEANWHILE)
                findings.meanwhile.append(meanwhile(place, goods, before=before, rows=rows, postgres=server))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.exchange", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the imported file (default 1,000,000)")
    parser.add_argument("--engine", choices=("sqlite", "postgresql", "both"), default="both", help="default both")
    parser.add_argument("--only", choices=_PARTS, help="one part instead of all")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="default ../shared/data")
    parser.add_argument("--out", type=Path, default=Path("docs/performance.md"), help="the file to write into")
    return parser


def _command(options: argparse.Namespace) -> str:
    """Tell how to measure this again; where data lie and reports go is nobody's business."""
    given = [
        f"--{name} {value}"
        for name, value in vars(options).items()
        if name not in {"data", "out"} and value != _parser().get_default(name)
    ]
    return " ".join([".venv/bin/python -m bench.exchange", *given]) if given else "make bench-exchange"


def _conditions(options: argparse.Namespace) -> list[str]:
    articles = f"{options.rows:,} articles with real names of goods, twelve columns, about 250 bytes a row"
    return [
        f"PostgreSQL: {SETTINGS_TEXT}, Unix socket. SQLite: WAL, synchronous=FULL.",
        f"{articles}; an import is `stammdaten import`, from its start to its end.",
    ]


if __name__ == "__main__":
    sys.exit(main())
