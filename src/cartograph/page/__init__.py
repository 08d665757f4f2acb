"""The report page: one self-contained HTML file made from the tables of an audit."""
