"""Time the demo with an empty cache, and a second time: ``python -m bench.demo``."""

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

_QUESTION = "How does heapq.merge combine sorted inputs, and what does the key argument do?"
_EXCLUDED = ("test/", "tests/", "site-packages/", "idlelib/", "lib2to3/")


def main() -> None:
    command = [str(Path(sys.executable).parent / "suffice"), "ask", _QUESTION, "--docs", sysconfig.get_path("stdlib")]
    command += [word for glob in _EXCLUDED for word in ("--exclude", glob)] + ["--model", "extractive", "--quiet"]
    print("| demo over the Python standard library | seconds |")
    print("|---|--:|")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first time: index, embed, answer", "second time"):
            began = time.perf_counter()
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SUFFICE_CACHE_DIR": cache}
            )
            print(f"| {name} | {time.perf_counter() - began:.1f} |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nPeak memory: {peak:.0f} MB.")


if __name__ == "__main__":
    main()
