"""The code of a published matcher, which MLflow runs when it loads one; what it reads lies beside it, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def _declare() -> None:
    import pandas as pd
    from mlflow.models import set_model
    from mlflow.pyfunc.model import PythonModel

    from cartograph.pairs.matcher.known_records import KnownRecords

    class Matching:
        """Says of each pair of records how probable it is that both are the same; apart, as MLflow prints a warning about a method
        `predict` of a model's own class that has no type hints, and cannot use those of a table.
        """

        def load_context(self, context: Any) -> None:
            """Read matcher and records."""
            self.known = KnownRecords.load(Path(context.artifacts["matcher"]))

        def predict(self, context: Any, model_input: Any, params: Any = None) -> Any:
            """Return the probability of each row of a table of pairs."""
            values = {name: [None if pd.isna(value) else str(value) for value in model_input[name]] for name in model_input}
            return pd.Series(self.known.probabilities(values), index=model_input.index, name="probability")

    # Nor can it use these, of which it warns as well; the signature is saved with the model.
    Matching.predict.__annotations__.clear()

    class PublishedMatcher(Matching, PythonModel):
        """The same, as MLflow knows it."""

    set_model(PublishedMatcher())


_declare()
