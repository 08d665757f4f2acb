"""The code of a published matcher, which MLflow runs when it loads one; what it reads lies beside it, as data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any


def _declare() -> None:
    import pandas as pd
    from mlflow.models import set_model
    from mlflow.pyfunc.model import PythonModel

    from cartograph.pairs.matcher.known_records import KnownRecords

    with warnings.catch_warnings():
        # MLflow warns of every class that leaves its table's columns to the signature.
        warnings.simplefilter("ignore", UserWarning)

        class PublishedMatcher(PythonModel):
            """Says of each pair of records how probable it is that both are the same."""

            def load_context(self, context: Any) -> None:
                """Read matcher and records."""
                self.known = KnownRecords.load(Path(context.artifacts["matcher"]))

            def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]
                """Return the probability of each row of a table of pairs."""
                values = {name: [None if pd.isna(value) else str(value) for value in model_input[name]] for name in model_input}
                return pd.Series(self.known.probabilities(values), index=model_input.index, name="probability")

    set_model(PublishedMatcher())


_declare()
