"""What cheap linear models read of rows, whatever these are: words, pixels, or the columns of a table."""

from __future__ import annotations

import pyarrow as pa
from scipy import sparse

from cartograph.features.column_texts import texts_of_columns
from cartograph.features.comparison import beside_words, comparison_features
from cartograph.features.pixels import sparse_pixels
from cartograph.features.tables import sparse_columns
from cartograph.features.text import TextRows, text_features
from cartograph.schema import dataset_info


def simple_features(*tables: pa.Table) -> sparse.csr_array:
    """Return the rows of some sets, one set under the other, as one matrix of features ≥ 0, ``(n_rows, n_features)``.

    Of texts TF-IDF of words and word pairs, of pairs also how alike the two are (``comparison``), of a choice a row per option; of images
    pixels; of tables of features bins and categories, and the words of texts among their columns.

    Args:
        tables: of one kind (``schema.examples_schema``); images and tables are read as the first one's are.

    Raises:
        InputError: there is no row, or not a word in any text.
    """
    info = dataset_info(tables[0].schema)
    if info.images:
        return sparse_pixels(*tables)
    if info.features:
        texts = texts_of_columns(*tables)
        columns = sparse_columns(*tables)
        return sparse.csr_array(sparse.hstack([columns, text_features(texts)], format="csr")) if texts else columns
    rows = TextRows(*tables)
    words = text_features(rows)
    compared = comparison_features(rows) if info.task == "pair" else None
    return words if compared is None else beside_words(words, compared)
