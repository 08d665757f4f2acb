"""Asks pip-audit for known vulnerabilities of every package in constraints.txt, and says what it could not ask.

pip-audit takes a package that its service does not know for one to skip, and then finds nothing: without its data it ends like a clean
audit. This ends with 0 if every package was asked about and none is vulnerable, 1 if one is, and 2 if some could not be asked about.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CONSTRAINTS = Path(__file__).resolve().parent.parent / "constraints.txt"
_AUDIT = ("-m", "pip_audit", "--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json")
_NAMED = 10


def verdict(report: str, errors: str) -> tuple[int, str]:
    """Return the exit code and what to say about pip-audit's report.

    Args:
        report: its JSON, empty if it ended before.
        errors: what it wrote to its standard error.
    """
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError):
        last = (errors.strip().splitlines() or ["it said nothing"])[-1]
        return 2, f"pip-audit gave no report, so nothing was checked: {last[:300]}"
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    found = [
        f"{package['name']} {package['version']}: {one['id']}, fixed in {', '.join(one['fix_versions']) or 'no version yet'}"
        for package in packages
        for one in package.get("vulns", ())
    ]
    if len(skipped) == len(packages):
        return 2, f"pip-audit could not reach its data, so nothing was checked: its service knows none of {len(packages)} packages"
    said = [*found, f"{len(found)} known vulnerabilities in {len(packages) - len(skipped)} packages"]
    if skipped:
        more = f" and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        said.append(f"{len(skipped)} packages could not be checked: {', '.join(skipped[:_NAMED])}{more}")
    return 1 if found else 2 if skipped else 0, "\n".join(said)


def main(arguments: list[str]) -> int:
    """Run pip-audit with further arguments, say what it found, and return the exit code."""
    done = subprocess.run([sys.executable, *_AUDIT, "-r", str(CONSTRAINTS), *arguments], capture_output=True, text=True, check=False)
    code, said = verdict(done.stdout, done.stderr)
    sys.stdout.write(said + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
