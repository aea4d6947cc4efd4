"""Build the site: ``python -m docs.site [FOLDER]``, by default into build/site."""

import sys
import tempfile
from pathlib import Path

from docs.site.accuracy import report
from docs.site.assemble import assemble
from sphinx.cmd.build import build_main

from lcgnn.report.html import write_page

HERE = Path(__file__).parent


def build(out: Path) -> int:
    """Make the site in a folder; 0 if there was nothing to warn of."""
    with tempfile.TemporaryDirectory() as folder:
        source, extra = Path(folder) / "source", Path(folder) / "extra"
        assemble(source)
        write_page(report(), extra / "results" / "report.html")
        options = ["-W", "--keep-going", "-q", "-b", "html", "-c", str(HERE), "-d", f"{folder}/doctrees"]
        return build_main([*options, "-D", f"html_extra_path={extra}", str(source), str(out)])


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "build/site")
    code = build(out)
    print(f"The site: {out / 'index.html'}" if code == 0 else "The site has faults: see above.")
    sys.exit(code)
