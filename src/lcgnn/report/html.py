"""The report as one HTML file that needs nothing else: styles, scripts and data are inside."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lcgnn import __version__
from lcgnn.files import written_atomically
from lcgnn.report.page import Report
from lcgnn.report.sections import Plot


def write_page(report: Report, path: Path) -> None:
    """Write the page, atomically."""
    with written_atomically(path) as temporary:
        temporary.write_text(render(report), encoding="utf-8")


def render(report: Report) -> str:
    """The page's HTML; the same records give the same text."""
    # Imported here because it takes long, and only this needs it.
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("lcgnn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["plot"] = lambda block: isinstance(block, Plot)
    # A NaN would be no JSON, and the browser would show no figure at all.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    sections = report.sections()
    return environment.get_template("report.html.j2").render(
        report=report,
        sections=sections,
        has_plots=any(section.plots for section in sections),
        version=__version__,
        style=_trusted("report.css"),
        script=_trusted("report.js"),
        plotly=Markup(get_plotlyjs()),
    )


def _trusted(name: str) -> Markup:
    """A file of this package that goes into the page as it is."""
    return Markup(resources.files("lcgnn.report").joinpath("templates", name).read_text(encoding="utf-8"))
