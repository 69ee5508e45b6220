from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import ScoresError
from discreet.gaps.finite import best_of, best_of_rows, require_finite

any_float = st.floats(width=16) | st.sampled_from([0.0, -0.0, 1.0, -1.0, 6e-8, -65504.0])
FLOATS = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("largest", [True, False])
@given(rows=st.lists(st.lists(any_float, min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_best_of_each_row_or_a_refusal(
    rows: list[list[float]], largest: bool, dtype: type
) -> None:
    values: NDArray[Any] = np.array(rows, dtype=dtype)
    wide = np.repeat(values, 2, axis=1)[:, ::2]  # not contiguous
    for array in (values, wide, values[::-1]):
        expected = [max(row) if largest else min(row) for row in array.tolist()]
        if np.isfinite(expected).all() and not np.isnan(array).any():
            found = best_of_rows(array, largest_is_best=largest)
            assert found.dtype == dtype
            assert found.tolist() == expected
            assert [best_of(row, largest_is_best=largest) for row in array] == expected
        else:
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                best_of_rows(array, largest_is_best=largest)
        if np.isfinite(array).all():
            require_finite(array.ravel())
        else:
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                require_finite(array.ravel())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("largest", [True, False])
def test_every_word_that_is_not_finite_is_refused(largest: bool, dtype: Any) -> None:
    bits = np.dtype(dtype).itemsize * 8
    word = np.dtype(f"u{bits // 8}").type
    infinity = int(np.array(np.inf, dtype=dtype).view(word))
    for sign in (0, 1 << (bits - 1)):
        for payload in (0, 1, infinity ^ ((1 << (bits - 1)) - 1)):
            bad = np.array([sign | infinity | payload], dtype=word).view(dtype)[0]
            for company in (1.0, -1.0, 0.0):
                row: NDArray[Any] = np.array([[company, company, company]], dtype=dtype)
                row[0, 1] = bad
                with pytest.raises(ScoresError), np.errstate(all="ignore"):
                    require_finite(row.ravel())
                if payload or (sign == 0) == largest:
                    with pytest.raises(ScoresError), np.errstate(all="ignore"):
                        best_of_rows(row, largest_is_best=largest)
                    with pytest.raises(ScoresError), np.errstate(all="ignore"):
                        best_of(row[0], largest_is_best=largest)


def test_integers_and_objects_are_compared_as_they_are() -> None:
    rows: NDArray[Any] = np.array([[1, 10**30], [-5, -6]], dtype=object)
    assert best_of_rows(rows, largest_is_best=True).tolist() == [10**30, -5]
    assert best_of_rows(rows.astype(object), largest_is_best=False).tolist() == [1, -6]
    assert best_of(rows[0], largest_is_best=True) == 10**30
    assert best_of(np.array([3, -7], dtype=np.int8), largest_is_best=False) == -7
    require_finite(np.array([1, 2]))
