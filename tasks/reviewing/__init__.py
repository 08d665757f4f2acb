"""The review page: questions put to people one by one, on this machine alone, and their answers written as they come."""
