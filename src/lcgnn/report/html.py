"""The report as one HTML file that needs nothing else: styles, scripts and data are inside."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from lcgnn import __version__
from lcgnn.extras import need
from lcgnn.outputs import OutputKind, beginning
from lcgnn.report.page import Report
from lcgnn.report.sections import Plot

PAGE = OutputKind(
    "a report",
    (".html", ".htm"),
    lambda path: b'<meta name="generator" content="lcgnn' in beginning(path),
    " (those of version 0.1 have none)",
)


def write_page(report: Report, path: Path) -> None:
    """Write the page, atomically."""
    with PAGE.written(path) as temporary:
        temporary.write_text(render(report), encoding="utf-8")


def render(report: Report) -> str:
    """The page's HTML; the same records give the same text."""
    jinja2, plotly = (need(module, "The page with plots") for module in ("jinja2", "plotly.offline"))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lcgnn.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["plot"] = lambda block: isinstance(block, Plot)
    # A NaN would be no JSON, and the browser would show no figure at all.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    sections = report.sections()
    page: str = environment.get_template("report.html.j2").render(
        report=report,
        sections=sections,
        has_plots=any(section.plots for section in sections),
        version=__version__,
        style=_template("report.css"),
        script=_template("report.js"),
        plotly=plotly.get_plotlyjs(),
    )
    return page


def _template(name: str) -> str:
    return resources.files("lcgnn.report").joinpath("templates", name).read_text(encoding="utf-8")
