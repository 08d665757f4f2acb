"""Many small logistic regressions fitted together at scikit-learn's optimum."""
