"""``lcgnn label``: a page on which a graph's nodes are labelled, and everything behind it."""
