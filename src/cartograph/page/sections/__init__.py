"""The sections of the report page: one module each, from the audit to a section."""
