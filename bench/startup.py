"""Measure start-up time against a bare interpreter, as ratios within one run: ``python -m bench.startup``."""

import subprocess
import sys
import time
from pathlib import Path

_TRIES = 15
_COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import typer'": [sys.executable, "-c", "import typer"],
    "import suffice": [sys.executable, "-c", "import suffice"],
    "suffice --version": [str(Path(sys.executable).parent / "suffice"), "--version"],
    "suffice --help": [str(Path(sys.executable).parent / "suffice"), "--help"],
}


def main() -> None:
    # Interleaved, so that a noisy moment affects every command alike. The best of many tries has the least noise.
    best = dict.fromkeys(_COMMANDS, float("inf"))
    for _ in range(_TRIES):
        for name, command in _COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - began)
    base = best["python -c pass"]
    print("| command | best of 15, ms | × bare interpreter |")
    print("|---|--:|--:|")
    for name, seconds in best.items():
        print(f"| `{name}` | {1000 * seconds:.0f} | {seconds / base:.1f} |")


if __name__ == "__main__":
    main()
