"""Find the subject of ``discreet audit``: a registered mechanism, or one from a file or library."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, ParameterError

if TYPE_CHECKING:
    from discreet.audit.adapters import Adapter


def subject_named(name: str, parameters: dict[str, str], **stream: Any) -> Any:
    """Return a registered mechanism, or the object at ``file.py:name`` or ``package.module:name``.

    ``stream`` holds the extra arguments of a stream mechanism, such as above-threshold. If the object is a
    class, it is called with ``parameters``.
    """
    place, colon, attribute = name.rpartition(":")
    if name.endswith(".py") or (colon and not attribute):
        whole_file = name.rstrip(":")
        raise ParameterError(
            f"⟨mechanism⟩{name!r} is not allowed: name an object in it, as in {whole_file}:my_mechanism"
        )
    if not colon:
        from discreet.mechanisms.registry import STREAMS, mechanism_named

        try:
            if name in STREAMS:
                return STREAMS[name](threshold=0, **stream, **parameters)
            return mechanism_named(name, **parameters)
        except TypeError:
            raise ParameterError(
                f"{name} does not accept all of these options: {_options(parameters)}"
            ) from None
    found = getattr(_module(place), attribute, None)
    if found is None:
        raise ParameterError(
            f"⟨mechanism⟩{name!r} is not allowed: there is no {attribute} in {place}"
        )
    if not isinstance(found, type):
        return found
    with failures_of(name):
        try:
            return found(**{key: _number(value) for key, value in parameters.items()})
        except TypeError:
            taken = _options(parameters) or "no option at all, such as --epsilon"
            raise ParameterError(f"{name} cannot be made with {taken}") from None


def library_named(name: str) -> Adapter | None:
    """Return the adapter for another library's mechanism, such as ``opendp:make_noisy_max``, or None."""
    if ":" not in name or name.endswith(".py"):
        return None
    from discreet.audit.libraries import ADAPTERS, adapter_named

    return adapter_named(name) if name in ADAPTERS else None


def _options(parameters: dict[str, str]) -> str:
    return ", ".join(f"--{key}" for key in parameters)


@contextmanager
def failures_of(name: str) -> Iterator[None]:
    """Report an error in the user's code by its type only, because its message may contain scores."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise DiscreetError(f"{name} failed ({kind}); DISCREET_DEBUG=1 shows where") from error


def _module(place: str) -> Any:
    here = Path(f"{place}.py")
    if place.endswith(".py") or ("." not in place and here.is_file()):
        return _file(Path(place) if place.endswith(".py") else here)
    # Also look in the current folder, unless a package with this name is installed.
    _look_in(Path.cwd())
    with failures_of(place):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise
            raise ParameterError(
                f"⟨mechanism⟩{place!r} is not allowed: no module of this name is here or installed"
            ) from None


def _file(path: Path) -> Any:
    if not path.is_file():
        raise ParameterError(f"⟨mechanism⟩{str(path)!r} is not allowed: there is no such file")
    _look_in(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    with failures_of(str(path)):
        spec.loader.exec_module(module)
    return module


def _look_in(folder: Path) -> None:
    """Let imports find the modules in this folder; installed modules take precedence."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
