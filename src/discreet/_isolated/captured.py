"""Pack a function as bytes for a clean process, and check what it carries.

A function may carry code, modules, functions and classes of installed libraries, small plain values, and
estimators that were never fitted. Everything else is refused, because it may hold rows: a frame, an array, a
fitted model, an open file, a connection.
"""

from __future__ import annotations

import builtins
import datetime
import dis
import enum
import functools
import importlib
import io
import marshal
import pickle
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any

from discreet._isolated.from_file import FunctionInFile, function_in
from discreet.errors import ParameterError

MOST_CARRIED = 100_000
"""The most bytes that a packed function may have: enough for names and settings; more counts as data."""
_PLAIN = (
    Fraction,
    Decimal,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    enum.Enum,
    re.Pattern,
    PurePath,
    complex,
    range,
    slice,
    frozenset,
    bytearray,
    functools.partial,
    types.BuiltinFunctionType,
    types.MethodType,
    types.EllipsisType,
    types.NotImplementedType,
)
_CACHED = type(functools.cache(len))
_INSTALLED = (
    *(
        Path(sysconfig.get_path(name)).resolve()
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    ),
    Path(__file__).resolve().parents[1],
)


def packed(function: Any) -> bytes:
    """Return a function as bytes; raise ``ParameterError`` if it carries anything that may hold rows.

    Example:
        >>> import pickle
        >>> pickle.loads(packed(lambda rows: "large" if len(rows) > 9 else "small"))([1, 2])
        'small'
        >>> import numpy as np
        >>> seen = np.zeros(3)
        >>> packed(lambda rows: seen[0])
        Traceback (most recent call last):
        discreet.errors.ParameterError: the function carries ndarray ...
    """
    if not callable(function):
        raise ParameterError(
            f"⟨function⟩{function!r:.80} is not allowed: it must be a function of the rows of a "
            "block; only the owner of a desk can register a name for one"
        )
    carried = io.BytesIO()
    try:
        _Packing(carried, protocol=5).dump(function)
    except ParameterError:
        raise
    except Exception as error:
        raise _refused(f"something that cannot be sent ({type(error).__name__}: {error})") from None
    if len(carried.getvalue()) > MOST_CARRIED:
        raise _refused(f"more than {MOST_CARRIED // 1000} kB")
    return carried.getvalue()


def _refused(what: str) -> ParameterError:
    return ParameterError(
        f"the function carries {what}, which may hold rows: a block must see its own rows and nothing else. "
        "It may use modules, functions and classes of installed libraries, small plain values and estimators "
        "that were never fitted; make everything else inside the function, or import it there"
    )


class _Packing(pickle.Pickler):
    def reducer_override(self, given: Any) -> Any:
        if isinstance(given, FunctionInFile):  # the clean process runs the file once
            return function_in, (given.file, given.function)
        if isinstance(given, types.ModuleType):
            return importlib.import_module, (given.__name__,)
        if isinstance(given, types.FunctionType | _CACHED) and _is_installed(given):
            return NotImplemented
        if isinstance(given, types.FunctionType):
            return _by_value(given)
        if isinstance(given, _CACHED):  # leave out its cached results
            return functools.cache, (given.__wrapped__,)
        if isinstance(given, type):
            if given.__module__ == "__main__":
                raise _refused(
                    f"the class {given.__name__}, which has no file of its own (put it into a module)"
                )
            return NotImplemented
        if isinstance(given, _PLAIN):
            return NotImplemented
        if hasattr(given, "get_params") and hasattr(given, "set_params"):
            return _unfitted(given)
        library = type(given).__module__.partition(".")[0]
        if library == "numpy" and (
            isinstance(given, sys.modules["numpy"].dtype)
            or type(given).__name__ in ("ufunc", *_scalars())
        ):
            return NotImplemented
        if library == "sklearn" and hasattr(given, "_score_func"):  # made by make_scorer
            return NotImplemented
        raise _refused(f"{type(given).__name__} ({type(given).__module__})")


def _scalars() -> tuple[str, ...]:
    numpy = sys.modules["numpy"]
    return tuple(kind.__name__ for kind in numpy.ScalarType if isinstance(kind, type))


def _is_installed(function: Any) -> bool:
    """Return whether an installed library has this very function under the function's name."""
    module = sys.modules.get(function.__module__ or "")
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return False
    there: Any = module
    for name in function.__qualname__.split("."):
        there = getattr(there, name, None)
    return there is function and is_of_a_library(file)


@functools.cache
def is_of_a_library(file: str) -> bool:
    """Return whether a module's file belongs to Python, an installed library, or discreet."""
    place = Path(file).resolve()
    return any(place.is_relative_to(each) for each in _INSTALLED)


def _unfitted(estimator: Any) -> tuple[Any, ...]:
    """Return an estimator as its class and parameters; refuse a fitted one."""
    settings = estimator.get_params(deep=False)
    # Some constructors set more attributes than the parameters, so compare with a new estimator.
    further = sorted(set(vars(estimator)) - set(vars(_made(type(estimator), settings))))
    if further:
        raise _refused(f"a fitted {type(estimator).__name__} (it has {further[0]})")
    return _made, (type(estimator), settings)


def _made(kind: Callable[..., Any], settings: dict[str, Any]) -> Any:
    return kind(**settings)


# ---- a function by value -----------------------------------------------------------------------------------


def _by_value(function: types.FunctionType) -> tuple[Any, ...]:
    names = {name for name in _globals_of(function.__code__) if name in function.__globals__}
    state = (
        {name: function.__globals__[name] for name in sorted(names)},
        function.__defaults__,
        function.__kwdefaults__,
        [_content(cell) for cell in function.__closure__ or ()],
    )
    made = (marshal.dumps(function.__code__), len(function.__closure__ or ()))
    # The state comes after the function itself, so that a function may refer to itself.
    return _empty_function, made, state, None, None, _fill


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # the variable has no value yet
        return ()


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield each.argval
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _globals_of(each)


def _empty_function(code: bytes, cells: int) -> types.FunctionType:
    made = marshal.loads(code)  # noqa: S302 - from the process that started this one
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(
        made, {"__builtins__": builtins, "__name__": "__main__"}, closure=closure
    )


def _fill(function: types.FunctionType, state: tuple[Any, ...]) -> None:
    names, function.__defaults__, function.__kwdefaults__, contents = state
    function.__globals__.update(names)
    for cell, content in zip(function.__closure__ or (), contents, strict=True):
        if content:
            (cell.cell_contents,) = content
