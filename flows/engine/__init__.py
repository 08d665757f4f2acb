"""What runs a pipeline under Prefect: a step as a task, runners, devices, DVC's record."""
