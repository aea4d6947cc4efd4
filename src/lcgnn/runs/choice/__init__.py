"""A choice among the stages of methods, by the same folds of the given labels."""
