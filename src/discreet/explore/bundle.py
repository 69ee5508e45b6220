"""The charts' script: Vega, Vega-Lite and vega-embed in one file, built once and cached.

Building takes some seconds and holds the interpreter's lock, so a separate process does it. The script is
stored in the user's cache folder under the version of vl-convert that built it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

from discreet.errors import DiscreetError

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def cache_folder() -> Path:
    """Return the folder that stores the script between runs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "discreet"


class Bundle:
    """The charts' script. Creating this object starts a thread that reads it from the cache or builds it."""

    def __init__(self, folder: Path | None = None) -> None:
        made_by = version("vl-convert-python")
        self._path = (folder or cache_folder()) / f"vega-{made_by}.js"
        self._content: bytes | None = None
        self._thread = threading.Thread(target=self._prepare, daemon=True)
        self._thread.start()

    def content(self) -> bytes:
        """Return the script, waiting for it if necessary."""
        self._thread.join()
        if self._content is None:
            raise DiscreetError(
                "the charts' script could not be made; is vl-convert installed whole?"
            )
        return self._content

    def _prepare(self) -> None:
        try:
            self._content = self._path.read_bytes()
        except OSError:
            self._content = _made()
            if self._content is not None:
                self._keep(self._content)

    def _keep(self, content: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(content)
            unfinished.replace(self._path)  # atomic
        except OSError:
            return  # for example in a read-only home; it is built again next time


def _made() -> bytes | None:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_make, args=(sender,), daemon=True)
    process.start()
    sender.close()
    try:
        content: bytes = receiver.recv_bytes()
    except EOFError:
        return None
    finally:
        receiver.close()
        process.join()
    return content


def _make(sender: Connection) -> None:
    import vl_convert

    content = vl_convert.javascript_bundle(_SNIPPET).encode()
    with contextlib.suppress(BrokenPipeError):  # the server has already exited
        sender.send_bytes(content)
    sender.close()
