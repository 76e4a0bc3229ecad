"""`make bench`: measures and writes docs/performance.md. Ends with 1 if a target is missed."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from bench.load import CONNECTIONS, require_wrk
from bench.machine import describe
from bench.names import PARTS
from bench.postgres import SETTINGS_TEXT, postgres
from bench.report import section, write_report
from bench.rounds import say
from bench.running import Plan, run
from bench.targets import verdicts

_SIZES = (10_000, 100_000, 1_000_000)


def main() -> int:
    """Measure, report, and return the exit code."""
    options = _parser().parse_args()
    parts = frozenset(options.only.split(",")) if options.only else frozenset(PARTS)
    if not parts <= set(PARTS):
        sys.stderr.write(f"--only takes some of {','.join(PARTS)}\n")
        return 2
    require_wrk()
    plan = Plan(
        rows=options.rows,
        sizes=tuple(size for size in _SIZES if size <= options.most_rows),
        seconds=options.seconds,
        rounds=options.rounds,
        parts=parts,
    )
    # Ended from outside, it ends its servers too and leaves no folder behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with (
        tempfile.TemporaryDirectory(prefix="stammdaten-bench-") as folder,
        postgres(Path(folder)) as server,
    ):
        (version,) = server.column("postgres", "SHOW server_version")
        findings = run(plan, folder=Path(folder), postgres=server)
        conditions = [*describe(version), *_conditions(plan)]
    write_report(options.out, section(findings, command=_command(options), conditions=conditions))
    missed = [one for one in verdicts(findings) if not one.is_met]
    for one in missed:
        say(f"missed: {one.target}: {one.reached}, wanted {one.wanted}")
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--rows",
        type=int,
        default=100_000,
        help="products in the database (default 100,000)",
    )
    parser.add_argument(
        "--most-rows",
        type=int,
        default=_SIZES[-1],
        help="largest table of the growth test",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=4,
        help="seconds of load for a variant in a round",
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts")
    parser.add_argument("--only", default="", help=f"some of {','.join(PARTS)}")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/performance.md"),
        help="the file to write into",
    )
    return parser


def _command(options: argparse.Namespace) -> str:
    """Tell how to measure this again; where it was written to is nobody's business."""
    given = [
        f"--{name.replace('_', '-')} {value:g}" if isinstance(value, int | float) else f"--{name} {value}"
        for name, value in vars(options).items()
        if name != "out" and value != _parser().get_default(name)
    ]
    return " ".join([".venv/bin/python -m bench", *given]) if given else "make bench"


def _conditions(plan: Plan) -> list[str]:
    load = f"wrk, 1 thread, {CONNECTIONS} connections, {plan.seconds:g} s a variant, {plan.rounds} rounds"
    service = "stammdaten runs as `stammdaten serve` with one worker; authentication, log and metrics are on"
    return [
        f"PostgreSQL: {SETTINGS_TEXT}, Unix socket. SQLite: WAL, synchronous=FULL. {plan.rows:,} products.",
        f"Load: {load}, on the same cores. {service}.",
    ]


if __name__ == "__main__":
    sys.exit(main())
