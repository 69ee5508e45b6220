"""Text that spells dates, times and spans, against a slow reader of the same rule in Python."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet._tables import Rows, TextFile, open_table, people_per_candidate
from discreet._tables.compared import require_condition
from discreet._tables.counts import people_with_any
from discreet._tables.moments import kind_named
from discreet._tables.query import Query
from discreet._tables.where import parse
from discreet.errors import ParameterError
from discreet.questions import median

EPOCH = dt.datetime(1970, 1, 1)
CLOCK = r"(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d+))?)?"
UNITS = {
    "us": 1,
    "ms": 10**3,
    "s": 10**6,
    "min": 60 * 10**6,
    "h": 3600 * 10**6,
    "d": 86_400 * 10**6,
    "w": 7 * 86_400 * 10**6,
}


def slowly(text: str, kind: str) -> float | None:
    """Return the number that a text means, directly by the rule, one text at a time."""
    text = text.strip(" \t")
    if not text.isascii():
        return None
    found = _span(text) if kind == "span" else _dated(text, kind)
    return None if found is None else float(found) if kind == "date" else found / 10**6


def _dated(text: str, kind: str) -> int | None:
    matched = re.fullmatch(
        rf"(\d{{4}}(?:-\d\d-|/\d\d/)\d\d)?([T ])?(?:{CLOCK}(Z|[+-]\d\d(?::?\d\d)?)?)?", text
    )
    if matched is None:
        return None
    day, between, hour, *_ = matched.groups()
    if (between is not None) != (day is not None and hour is not None):
        return None
    if hour is None and (kind == "time" or day is None):
        return None
    if day is None and kind != "time":
        return None
    try:
        date = EPOCH.date() if day is None else dt.date.fromisoformat(day.replace("/", "-"))
        clock = (
            dt.time() if hour is None else dt.time(int(hour), int(matched[4]), int(matched[5] or 0))
        )
    except ValueError:
        return None
    offset = matched[7] or ""
    if len(offset) > 1 and (int(offset[1:3]) > 23 or int(offset[3:].lstrip(":") or 0) > 59):
        return None
    if kind == "date":
        return (date - EPOCH.date()).days
    moment = dt.datetime.combine(EPOCH.date() if kind == "time" else date, clock) - EPOCH
    micros = moment // dt.timedelta(microseconds=1) + int((matched[6] or "0")[:6].ljust(6, "0"))
    if kind == "moment" and len(offset) > 1:
        minutes = 60 * int(offset[1:3]) + int(offset[3:].lstrip(":") or 0)
        micros -= (-1 if offset[0] == "-" else 1) * minutes * UNITS["min"]
    return micros


def _span(text: str) -> int | None:
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text)
    fraction = re.search(r"\.(\d+)", rest)
    micros = int((fraction[1] if fraction else "0")[:6].ljust(6, "0"))
    named = re.fullmatch(r"(\d+)(\.\d+)? *(us|ms|s|min|h|d|w)", rest)
    if named is not None:
        if (named[2] and named[3] != "s") or len(named[1]) > (6 if named[3] in "dw" else 9):
            return None
        return sign * (int(named[1]) * UNITS[named[3]] + micros)
    iso = re.fullmatch(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?", rest)
    clock = re.fullmatch(r"(?:(\d+) days?,? +)?(\d+):" + CLOCK.partition(":")[2], rest)
    if iso is not None and any(iso.groups()):
        widths = zip(iso.groups(), (6, 8, 8, 9), strict=True)
        if any(len(part or "") > width for part, width in widths):
            return None
        parts = iso.groups()
    elif clock is not None:
        parts = clock.groups()[:4]
        if (parts[0] and (sign < 0 or len(parts[0]) > 6 or len(parts[1]) > 2)) or len(parts[1]) > 9:
            return None
        if int(parts[2]) > 59 or int(parts[3] or 0) > 59:
            return None
    else:
        return None
    units = (UNITS[unit] for unit in ("d", "h", "min", "s"))
    return sign * (sum(int(n or 0) * unit for n, unit in zip(parts, units, strict=True)) + micros)


NASTY = [
    *(
        "",
        " ",
        "x",
        "P",
        "PT",
        "-",
        "-P",
        "0",
        "5",
        "24:00",
        "08:60",
        "8:5",
        "08",
        "0800",
        "T08:00",
    ),
    *(
        "2024-02-29",
        "2023-02-29",
        "2023-13-01",
        "0000-01-01",
        "0001-01-01",
        "9999-12-31",
        "10000-01-01",
    ),
    *(
        "2024/12/31",
        "2024/12/31 08:30:00",
        "2024/12-31",
        "2023/02/29",
        "31/12/2024",
        "08/30",
        "2024/12",
    ),
    *("2024-12-31\n", "2024-12-31 ", "\t2024-12-31", "2024-12-31T", "2024-12-31T08", "20241231"),
    *("2024-12-31T08:00", "2024-12-31 8:00", "2024-12-31t08:00", "2023-02-30T08:00", "08:00:00,5"),
    *("2024-12-31T23:59:59.999999999", "2024-12-31T08:00:00.1Z", "2024-12-31T08:00+02:00"),
    *("2024-12-31T08:00-0230", "2024-12-31T08:00+02", "2024-12-31T08:00+24:00", "2024-12-31Z"),
    *("1969-12-31T23:59:59.9", "0001-01-01T00:00+02:00", "infinity", "-infinity", "today", "now"),
    *("1:30:00", "-1:30:00", "001:02:03.4", "123456789:59:59", "1234567890:00", "1:30:60"),
    *("0 days 01:30:00", "1 day, 2:03:04", "2 days 03:04:05.000006", "-1 day, 2:03:04", "1 day"),
    *("PT1H30M", "P1DT2H", "-PT0.5S", "P1Y", "PT1.5H", "P1D", "PT1000000000S", "P1234567D"),
    *("90min", "1.5h", "1.5 s", "250ms", "7us", "2 w", "-3d", "1000000w", "90m", "9" * 40 + "h"),
    *("٣:00:00", "2024-12-3１", "NaN", "null", "''", "\\z", "2024-12-31T08:00:00Z\n"),
]


def _random_texts() -> list[str]:
    draw = np.random.default_rng(7)
    signs = "0123456789" * 2 + "--//::..TZ+ PDHMSdays,minhwu"
    whole = [text for text in NASTY if text]
    made = []
    for _ in range(3000):
        text = whole[draw.integers(len(whole))]
        place = int(draw.integers(len(text) + 1))
        sign = signs[draw.integers(len(signs))]
        made.append(text[:place] + sign + text[place + int(draw.integers(2)) :])
    return made


TEXTS = [*NASTY, *_random_texts()]


KINDS = ("date", "moment", "time", "span")


def test_texts_are_read_as_the_rule_says(engine: str | None, tmp_path: Path) -> None:
    """Try awkward texts and random changes of them, in both engines that read text files."""
    path = tmp_path / "texts.jsonl"
    rows = ({"row": row} | dict.fromkeys(KINDS, text) for row, text in enumerate(TEXTS))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    file = TextFile(path, read_as={kind: kind for kind in KINDS})
    table = open_table(file, needed=["row", *KINDS], engine=engine)
    for kind in KINDS:
        expected = [slowly(text, kind) for text in TEXTS]
        first, *further = table.position(kind)
        query = Query.of(table.engine.source, {"value": first, "row_number": table.number("row")})
        for expression in further:
            query = query.set({"value": expression})
        found = [value for value, _ in table.engine.rows(query.statement + " ORDER BY row_number")]
        wrong = [each for each in zip(TEXTS, found, expected, strict=True) if each[1] != each[2]]
        assert not wrong, (kind, wrong[:5])
        assert sum(number is not None for number in expected) > 50


NAMES = (
    "2024-W01",
    "2020-W53",
    "2024-01",
    "2024-Q1",
    "2024",
    "2024-12-31",
    "x 2024-01-01",
    "2023-W53",
)
NEW_YEARS = [
    f"{dt.date(year, 12, 28) + dt.timedelta(days=more)}{clock}"
    for year, clock in zip(range(2000, 2029), ("", "T08:30", " 8:30+02:00") * 10, strict=False)
    for more in range(9)
]


def _named(text: str, kind: str) -> str:
    """Return the name of the period that a text counts for, one text at a time."""
    day = slowly(text, "date")
    if day is None:
        return text
    date = EPOCH.date() + dt.timedelta(days=int(day))
    year, week, _ = date.isocalendar()
    names = {"day": f"{date}", "week": f"{year:04}-W{week:02}", "month": f"{date}"[:7]}
    names |= {"quarter": f"{date.year:04}-Q{(date.month + 2) // 3}", "year": f"{date}"[:4]}
    return names[kind]


def test_a_text_that_spells_a_date_counts_for_its_period(
    engine: str | None, tmp_path: Path
) -> None:
    """Without a stated type, it counts for its period, as does text that is the period's name."""
    texts = [*TEXTS, *NAMES, *NEW_YEARS]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"at": text}) for text in texts), encoding="utf-8")
    table = open_table(path, needed=["at"], engine=engine)
    # Each takes seconds in the cluster; the names of other periods are parts of the text.
    for kind in ("week", "quarter") if engine else ("day", "week", "month", "quarter", "year"):
        named = [_named(text, kind) for text in texts]
        query = Query.of(table.engine.source, {"value": table.period("at", kind)[0]})
        found = [value for (value,) in table.engine.rows(query.statement)]
        assert sorted(found) == sorted(named), kind
        keys = sorted(name for name in set(named) if kind_named([name]) == kind)
        middle = keys[len(keys) // 2]
        early = Rows(where=parse(f"at <= '{middle}'"))
        for rows, last in ((Rows(), keys[-1]), (early, middle)):
            people = people_per_candidate(table, rows, column="at", keys=keys, period=kind)
            assert people[0].tolist() == [named.count(key) * (key <= last) for key in keys], kind


def test_the_slow_reader_knows_what_python_knows() -> None:
    for text in ("2024-12-31T08:00:00.1+02:00", "1969-12-31T23:59:59.900000", "2024-12-31"):
        moment = dt.datetime.fromisoformat(text)
        told = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
        micros = (told - EPOCH.replace(tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        assert slowly(text, "moment") == micros / 10**6
    for seconds in (0, 59, 86_399, 90_061.5):
        assert slowly(str(dt.timedelta(seconds=seconds)), "span") == seconds


_DAY = 86_400
_MARCH = (19_783, 19_814)  # 2024-03-01, 2024-04-01
CONDITIONS: dict[str, dict[str, Callable[[float], bool]]] = {
    "date": {
        "= '2024-03'": lambda day: _MARCH[0] <= day < _MARCH[1],
        "<= '2024-03'": lambda day: day < _MARCH[1],
        "> '2024-03'": lambda day: day >= _MARCH[1],
        "in '2024-01:2024-03'": lambda day: 19_723 <= day < _MARCH[1],
        "in ('2024-03-01', '2024-12-31')": lambda day: day in (19_783, 20_088),
        "!= '2024'": lambda day: not 19_723 <= day < 20_089,
    },
    "moment": {
        "= '2024-03'": lambda second: _MARCH[0] * _DAY <= second < _MARCH[1] * _DAY,
        "= '2024-12-31'": lambda second: 20_088 * _DAY <= second < 20_089 * _DAY,
        "<= '2024-12-31T08:00Z'": lambda second: second <= 20_088 * _DAY + 8 * 3600,
        "> '2024-12-31T08:00'": lambda second: second > 20_088 * _DAY + 8 * 3600,
    },
    "time": {
        ">= '08:30'": lambda second: second >= 8.5 * 3600,
        "in ('08:00', '23:59:59')": lambda second: second in (8 * 3600, _DAY - 1),
    },
    "span": {
        "< '90min'": lambda second: second < 5400,
        ">= '-1.5h'": lambda second: second >= -5400,
    },
}


def test_conditions_use_the_same_words_as_on_declared_types(
    engine: str | None, tmp_path: Path
) -> None:
    texts = [
        *TEXTS,
        "2024-03-01",
        "2024-03-31T23:59:59.9",
        "2024-04-01",
        "2024-12-31T08:00",
        "08:00",
    ]
    texts += [
        "2024-02-29 12:00+02:00",
        "08:30",
        "23:59:59",
        "90min",
        "1:29:59",
        "-1:30:00",
        "-PT2H",
    ]
    path = tmp_path / "texts.jsonl"
    rows = ({"row": row} | dict.fromkeys(KINDS, text) for row, text in enumerate(texts))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    file = TextFile(path, read_as={kind: kind for kind in KINDS})
    table = open_table(file, needed=["row", *KINDS], engine=engine)
    keys = [str(row) for row in range(len(texts))]
    for kind, conditions in CONDITIONS.items():
        numbers = [slowly(text, kind) for text in texts]
        expected = {
            f"{kind} {words}": [number is not None and holds(number) for number in numbers]
            for words, holds in conditions.items()
        }
        expected[f"{kind} is null"] = [number is None for number in numbers]
        # Each takes seconds in the cluster; two of a kind show that Spark understands the statement.
        for condition, which in list(expected.items())[:: 1 if engine is None else 3]:
            asked = Rows(where=parse(f"{condition} and not (row = '' or row is null)"))
            counts = people_per_candidate(table, asked, column="row", keys=keys)
            assert counts[0].astype(bool).tolist() == which, condition
            assert any(which), condition


def test_conditions_on_decimals_that_a_text_spells(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text('price\n9.5\n10\n 10.0\nfree\n""\n', encoding="utf-8")
    table = open_table(TextFile(path, read_as={"price": "decimal"}), needed=["price"])
    for condition, people in (("price >= 9.75", 2), ("price in (10, 11)", 2), ("price is null", 1)):
        rows = Rows(where=parse(condition))
        assert people_with_any(table, rows, column="price").tolist() == [[people]], condition
    with pytest.raises(ParameterError, match="are read as decimal, with 'free': write texts in"):
        require_condition(table, parse("price = 'free'"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            "date = 'soon'",
            "a day such as '2024-12-31'.*the column 'date', texts that are read as date",
        ),
        ("date = 5", "where=5 is not allowed: .*'2024-12-31'"),
        ("date in ('2024-W01', '2024-03')", "several kinds"),
        ("time = '2024-03-01'", "a time such as '08:30'"),
        ("span < '90'", "a time span such as '90min'"),
    ],
)
def test_other_words_are_refused(condition: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("date,time,span\n", encoding="utf-8")
    read_as = {kind: kind for kind in ("date", "time", "span")}
    table = open_table(TextFile(path, read_as=read_as), needed=[])
    with pytest.raises(ParameterError, match=words):
        require_condition(table, parse(condition))


def test_bounds_that_are_dates_make_dates_of_the_condition_too(tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    days = ["2024-03-05"] * 300 + ["2024-04-02"] * 400
    path.write_text("\n".join(["day", *days]), encoding="utf-8")
    asked: dict[str, Any] = {
        "bounds": "2024-01-01:2024-12-31",
        "step": "1d",
        "one_row_per_user": True,
        "epsilon": 9,
    }
    answer = median(path, "day", where="day <= '2024-03'", ledger=None, **asked).answer
    assert answer == dt.date(2024, 3, 5)
