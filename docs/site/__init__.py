"""The documentation site, made of the Markdown beside this folder, the registry, docstrings and records."""
