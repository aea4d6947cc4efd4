"""The documentation site: made of the Markdown beside this folder, the registry, the docstrings and the records."""
