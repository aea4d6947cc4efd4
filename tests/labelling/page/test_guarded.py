"""What must not happen on the page: names that act, strangers who write, labels that are lost without a word."""

import http.server
import os
import resource
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import write_classes, write_ledger, write_table

SCRIPT = "<script>alert('id')</script>"
IMAGE = "<img src=x onerror=alert('class')>"
DRAWING = "<svg onload=alert('column')>"
QUOTE = '"><b onclick=alert(1)>&amp;{{7*7}}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a graph all of whose names are attempts, with a label of a node that is gone."""
    folder = tmp_path_factory.mktemp("guarded")
    names = [f"{SCRIPT} {number}" for number in range(30)]
    rows = [[name, QUOTE, str(number % 7)] for number, name in enumerate(names)]
    write_table(folder / "graph" / "nodes.csv", [["id", DRAWING, "size"], *rows])
    edges = [[names[number], names[(number + step) % 30]] for number in range(30) for step in (1, 2)]
    write_table(folder / "graph" / "edges.csv", [["source", "target"], *edges])
    given = {name: (IMAGE if number < 4 else QUOTE) for number, name in enumerate(names[:8])}
    write_ledger(folder / "labels.csv", {**given, "gone": IMAGE})
    write_classes(folder / "labels.csv", [f"kind {number}" for number in range(40)])
    serving = Served(folder / "graph", folder / "labels.csv")
    yield serving
    serving.kill()


def test_names_are_shown_as_they_are_written_and_do_nothing(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    assert page.locator("#card-title").inner_text().startswith(SCRIPT)
    assert page.locator(".columns dt").all_inner_texts()[1:] == [DRAWING, "size"]
    assert page.locator(".columns dd").nth(1).inner_text() == QUOTE
    assert SCRIPT in page.locator(".chip").first.inner_text()
    assert page.locator("#classlist tbody th").all_inner_texts()[:2] == [IMAGE, QUOTE]
    assert page.locator("#choices .choice .name").all_inner_texts()[:2] == [IMAGE, QUOTE]
    page.locator("#training", has_text="Trained on").wait_for()
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    page.locator("button.dots").first.click()
    assert page.locator("#dialog-title").inner_text() == f"Class {IMAGE}"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.type("<script>")
    page.locator("#found li", has_text=SCRIPT).first.wait_for()
    assert page.locator("main img, main script, main b[onclick], header img").count() == 0


def test_a_class_beyond_the_ninth_is_found_by_typing(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    before = page.locator("#tally").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("ind 37")
    assert page.locator("#choices .choice:not(.new) .name").all_inner_texts() == ["kind 37"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#classlist tbody tr", has_text="kind 37").locator("td", has_text="1").wait_for()
    page.keyboard.press("z")
    page.locator("#tally", has_text=before).wait_for()


def test_labels_of_a_node_that_is_gone_are_told(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    line = page.locator(".notice.message", has_text="not in the graph")
    line.wait_for()
    page.get_by_label("Dismiss this message").click()
    line.wait_for(state="detached")


def test_a_graph_that_changes_under_the_page_is_told(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit)
    nodes = Path(served.what) / "nodes.csv"
    content, status = nodes.read_bytes(), nodes.stat()
    line = page.locator(".notice.message", has_text="have changed")
    nodes.write_bytes(content + b"another,one,1\n")
    line.wait_for()
    nodes.write_bytes(content)
    os.utime(nodes, ns=(status.st_atime_ns, status.st_mtime_ns))
    line.wait_for(state="detached")


def test_a_full_disk_is_told_and_nothing_is_lost(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit, expected="Failed to load resource")
    before = served.labels()
    node, tally = page.locator("#card-title").inner_text(), page.locator("#tally").inner_text()
    full = served.ledger.stat().st_size
    unlimited = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
    page.keyboard.press("1")
    refused = page.locator(".notice.trouble span")
    refused.wait_for()
    page.locator("#card-title", has_text=node).wait_for()
    assert page.locator("#tally").inner_text() == tally
    # By then the server has told every page what it answered this one.
    page.wait_for_timeout(1500)
    assert page.locator(".notice span").all_inner_texts().count(refused.inner_text()) == 1
    assert served.labels() == before
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, unlimited)
    page.keyboard.press("1")
    page.locator(".notice.trouble").wait_for(state="detached")
    page.locator("#card-title").filter(has_not_text=node).wait_for()
    assert served.labels() == {**before, node: IMAGE}


def test_a_node_that_the_graph_does_not_have_is_told(served: Served, visit: Callable[..., Any]) -> None:
    page = served.open(visit, expected="Failed to load resource")
    answer = page.evaluate(
        "async () => { const a = await fetch('/api/node/999'); return [a.status, await a.json()]; }"
    )
    assert answer[0] == 404
    assert "There is no node 999" in answer[1]["error"]


def test_a_wrong_or_used_token_opens_nothing(served: Served, visit: Callable[..., Any]) -> None:
    served.open(visit)
    for token in ("wrong", served.link.partition("token=")[2]):
        page = visit(f"{served.address}/?token={token}", expected="Failed to load resource")
        assert "Open the link" in page.locator("body").inner_text()
        assert page.locator("#card").count() == 0
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{served.address}/api/state", timeout=10)


class Stranger(http.server.BaseHTTPRequestHandler):
    """Somebody else's server: an empty page at every address, so that a browser has nothing to complain of."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_a_page_of_another_origin_can_neither_read_nor_write(served: Served, visit: Callable[..., Any]) -> None:
    before = served.labels()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        served.open(visit)
        page = visit(f"http://127.0.0.1:{stranger.server_port}/", storage_state=served.cookies)
        answers = page.evaluate(
            """async (address) => {
              const attempt = (path, how) => fetch(address + path, { credentials: "include", ...how }).then(
                (answer) => answer.status, () => "refused");
              const body = JSON.stringify({ node: 20, class: 0 });
              const writing = { method: "POST", mode: "no-cors", body };
              return [await attempt("/api/state", {}), await attempt("/api/label", writing)];
            }""",
            served.address,
        )
        assert answers == ["refused", "refused"]
        # The browser complains of what the stranger tried, as it should.
        page.complaints.clear()
        stranger.shutdown()
    assert served.labels() == before


def test_the_link_opens_from_the_page_of_another_site_too(tmp_path: Path, visit: Callable[..., Any]) -> None:
    write_table(tmp_path / "graph" / "nodes.csv", [["id", "size"], ["a", "1"], ["b", "2"]])
    write_table(tmp_path / "graph" / "edges.csv", [["source", "target"], ["a", "b"]])
    serving = Served(tmp_path / "graph", tmp_path / "labels.csv")
    try:
        with http.server.ThreadingHTTPServer(("localhost", 0), Stranger) as stranger:
            threading.Thread(target=stranger.serve_forever, daemon=True).start()
            # A notebook's terminal, say; browsers take localhost and 127.0.0.1 for two sites.
            page = visit(f"http://localhost:{stranger.server_port}/")
            page.evaluate("(link) => { location.href = link; }", serving.link)
            page.locator("body.ready").wait_for()
            assert "token" not in page.url
            stranger.shutdown()
    finally:
        serving.kill()
