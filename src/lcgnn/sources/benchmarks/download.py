"""Files from their public address."""

from __future__ import annotations

from lcgnn.errors import DownloadError
from lcgnn.sources.source import Progress

SITE_TIMEOUT_SECONDS = 20


def download(url: str, progress: Progress, timeout: float = SITE_TIMEOUT_SECONDS) -> bytes:
    """The content at an address, not yet compared with anything; DownloadError if it cannot be had.

    Args:
        url: The address.
        progress: Told how much of it is here.
        timeout: Seconds without an answer after which it is given up.
    """
    # Imported here because most loads come from the cache and need no network code.
    from http.client import HTTPException
    from urllib.request import urlopen

    content = bytearray()
    try:
        with urlopen(url, timeout=timeout) as response:
            total = int(response.headers.get("Content-Length") or 0) or None
            while chunk := response.read(1 << 16):
                content += chunk
                progress(url, len(content), total)
    except (OSError, HTTPException) as error:
        raise DownloadError(f"{url}: {error}") from error
    return bytes(content)
