"""Takes out of a CycloneDX list where on this machine anything lies: `python .ci/sbom.py FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def without_places(listed: dict[str, Any]) -> dict[str, Any]:
    """Return a list of packages without references to files: of a package that was installed from a folder, that folder's path."""
    for package in [listed.get("metadata", {}).get("component", {}), *listed.get("components", [])]:
        references = package.pop("externalReferences", [])
        if kept := [one for one in references if not str(one.get("url", "")).startswith("file:")]:
            package["externalReferences"] = kept
    return listed


def main(arguments: list[str]) -> None:
    """Rewrite a list in place."""
    path = Path(arguments[0])
    content = without_places(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
