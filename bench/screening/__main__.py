"""`python -m bench.screening`: measures screening and prints tables. Ends with 1 if a target is missed."""

import argparse
import subprocess
import sys
from pathlib import Path

from bench.screening.monitoring import loading, monitoring
from bench.screening.quality import quality
from bench.screening.results import show
from bench.screening.speed import reverse, scale, speed

_PARTS = ("quality", "speed", "scale", "reverse", "monitoring", "loading")


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.screening", description=__doc__)
    parser.add_argument(
        "--names", type=int, default=100_000, help="listed names (default 100,000; scale has ten times)"
    )
    parser.add_argument("--only", choices=_PARTS, help="one part instead of all")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="default ../shared/data")
    options = parser.parse_args()
    if not (options.data / "sanctions").is_dir() or not (options.data / "labelled").is_dir():
        sys.stderr.write(f"{options.data} has no folders `sanctions` and `labelled`: nothing to measure on.\n")
        return 1
    if not options.only:
        return _all_parts(options)
    results = {
        "quality": lambda: quality(options.data),
        "speed": lambda: speed(options.data, options.names),
        "scale": lambda: scale(options.data, options.names),
        "reverse": lambda: reverse(options.data),
        "monitoring": lambda: monitoring(options.data),
        "loading": loading,
    }[options.only]()
    show(options.only, results)
    return 0 if all(result.is_met for result in results) else 1


def _all_parts(options: argparse.Namespace) -> int:
    """Run each part in a process of its own: what one leaves in memory must not count for another."""
    codes = [
        subprocess.run(
            [
                *(sys.executable, "-m", "bench.screening", "--only", part),
                *("--names", str(options.names), "--data", str(options.data)),
            ],
            check=False,
        ).returncode
        for part in _PARTS
    ]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
