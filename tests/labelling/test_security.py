"""Who is answered: this machine's own browser, which came by the link that was printed, and nobody else."""

import httpx
import pytest

from lcgnn.cli.label import _password
from lcgnn.errors import ConfigError
from lcgnn.labelling.security import Guard, is_loopback
from lcgnn.labelling.serving import Address


def test_nothing_is_served_without_the_cookie(page):
    with httpx.Client(base_url=page.base) as stranger:
        for path in ("/api/state", "/api/graph", "/api/events", "/api/export/labels.csv", "/static/index.html"):
            assert stranger.get(path).status_code == 401, path
        assert stranger.get("/").status_code == 403
        posted = stranger.post("/api/undo", json={}, headers={"Origin": page.base})
        assert posted.status_code == 401


def test_the_link_works_once_and_no_other_token_does(page):
    with httpx.Client(base_url=page.base) as stranger:
        for token in (page.link.split("token=")[1], "", "x", "é"):
            answer = stranger.get("/", params={"token": token})
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


def test_a_link_that_another_site_s_page_had_opens_as_well(pages, unlabelled):
    page = pages(str(unlabelled), enter=False)
    # Browsers send no strict cookie with anything that another site's page began, redirects included.
    answer = page.client.get(page.link, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0;url=/">' in answer.text
    assert "lcgnn label" in page.client.get("/").text


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(page):
    cookie = page.client.cookies.jar
    (kept,) = list(cookie)
    assert kept.name == f"lcgnn-label-{page.base.rpartition(':')[2]}"
    assert kept.has_nonstandard_attr("HttpOnly")
    assert kept.get_nonstandard_attr("SameSite").lower() == "strict"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "https://localhost:1", None]
)
def test_a_request_from_another_origin_changes_nothing(page, origin):
    before = page.get("/api/state")["revision"]
    headers = {} if origin is None else {"Origin": origin}
    with httpx.Client(base_url=page.base, cookies=page.client.cookies) as other:
        answer = other.post("/api/classes", json={"action": "add", "name": "evil"}, headers=headers)
    assert answer.status_code == 403
    assert "error" in answer.json()
    assert page.get("/api/state")["revision"] == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_not_even_read(page, site):
    assert page.client.get("/api/state", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert page.client.get("/api/state", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:1", ""])
def test_another_host_name_is_not_answered(page, host):
    answer = page.client.get("/api/state", headers={"Host": host})
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/card", "/static/none", "/none", "/api/layout.bin"])
def test_every_answer_forbids_scripts_of_others_guessing_of_types_and_keeping(page, path):
    headers = page.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static//etc/passwd",
        "/static/%00",
        f"/static/{'x' * 300}",
    ],
)
def test_only_the_page_s_own_files_are_served(page, path):
    answer = page.client.get(page.base + path)
    assert answer.status_code in (401, 404)
    assert "import" not in answer.text


def test_an_address_that_others_can_reach_needs_permission_and_a_password():
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    with pytest.raises(ConfigError, match="--allow-remote"):
        Address("0.0.0.0").check()
    for password in (None, "short"):
        with pytest.raises(ConfigError, match="password"):
            Address("192.0.2.1", allow_remote=True, password=password).check()
    Address("192.0.2.1", allow_remote=True, password="long enough").check()


@pytest.mark.parametrize(("host", "named"), [("127.0.0.2", "127.0.0.2"), ("0:0:0:0:0:0:0:1", "[0:0:0:0:0:0:0:1]")])
def test_the_host_that_was_asked_for_is_answered_to(host, named):
    guard = Guard(8000, host=host)
    headers = {"host": f"{named}:8000", "origin": f"http://{named}:8000"}
    assert guard.refusal("POST", "/api/undo", headers) is None
    assert Guard(8000).refusal("POST", "/api/undo", headers) is not None
    for other in ("127.0.0.3:8000", f"{named}:8001", f"{named}.evil.example:8000"):
        assert guard.refusal("GET", "/api/state", {"host": other}) is not None


def test_a_page_on_another_address_of_this_machine_is_opened_by_its_link(pages, unlabelled):
    page = pages(str(unlabelled), "--host", "127.0.0.2")
    assert page.base.startswith("http://127.0.0.2:")
    assert page.post("/api/classes", action="add", name="red")["state"]["classes"][0]["name"] == "red"


def test_a_password_that_is_no_text_is_refused_in_a_line(tmp_path):
    file = tmp_path / "password"
    file.write_bytes(b"pass\xffword")
    with pytest.raises(ConfigError, match=r"--password-file .* is no text in UTF-8 \(byte 5\)"):
        _password(file)


def test_a_password_lets_in_and_nothing_else_does():
    guard = Guard(1, remote=True, password="long enough")
    assert guard.log_in("long enoug") is None
    assert guard.log_in("") is None
    session = guard.log_in("long enough")
    assert session is not None
    assert guard.knows(session)
    assert not guard.knows("")
    assert Guard(1).log_in("") is None
