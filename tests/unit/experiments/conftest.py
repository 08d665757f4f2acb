from __future__ import annotations

from dataclasses import replace

import pytest

from cartograph.experiments.experiment import Material
from tests.experiment_material import make_material


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """What experiments work on; two epochs count."""
    material = make_material(tmp_path_factory.mktemp("material"))
    return replace(material, options={**material.options, "burn_in": 1, "seed": 5})
