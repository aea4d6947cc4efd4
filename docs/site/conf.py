"""Sphinx's settings. Nothing is fetched, neither while the site is built nor when a page is read."""

from importlib.metadata import version as version_of

from docs.site.mathml import setup_mathml

project = "lcgnn"
author = "The lcgnn developers"
project_copyright = author
release = version = version_of("lcgnn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4
# Z'Z is a product, and -- an option.
smartquotes = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
# Docstrings name other names in single backticks.
default_role = "py:obj"
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"lcgnn {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
# Summaries are fetched from the pages, which a browser refuses where the site is opened as files.
html_show_search_summary = False
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "monokai"
highlight_language = "text"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d5fa7", "color-brand-content": "#1d5fa7"},
    "dark_css_variables": {"color-brand-primary": "#7db8f0", "color-brand-content": "#7db8f0"},
}

setup = setup_mathml
