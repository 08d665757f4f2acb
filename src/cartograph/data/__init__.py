"""Rows after ingestion: content digests, uids, subsets, folds, images, Parquet files and spreadsheets; how far work on them is."""
