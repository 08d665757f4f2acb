from __future__ import annotations

import pytest

from cartograph.page.audit import Audit
from tests.page_audits import small_audit


@pytest.fixture
def audit() -> Audit:
    return small_audit()
