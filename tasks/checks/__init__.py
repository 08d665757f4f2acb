"""Great Expectations: what is expected of ingested and cleaned sets, and the pages that show it."""
