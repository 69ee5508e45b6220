"""Texts that spell dates, times and spans, against a slow reader of the same rule in Python."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from discreet._tables import Grid, Rows, TextFile, open_table, people_per_grid_point
from discreet._tables.query import Query
from discreet._tables.where import parse

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
    """The number that a text stands for, by the rule's own words, one text at a time."""
    text = text.strip(" \t")
    if not text.isascii():
        return None
    found = _span(text) if kind == "span" else _dated(text, kind)
    return None if found is None else float(found) if kind == "date" else found / 10**6


def _dated(text: str, kind: str) -> int | None:
    matched = re.fullmatch(
        rf"(\d{{4}}-\d\d-\d\d)?([T ])?(?:{CLOCK}(Z|[+-]\d\d(?::?\d\d)?)?)?", text
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
        date = EPOCH.date() if day is None else dt.date.fromisoformat(day)
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
    signs = "0123456789" * 2 + "--::..TZ+ PDHMSdays,minhwu"
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
    """Every text, nasty or made of one by a random change, and in both engines that read text files."""
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
        found = [value for value, _ in table.engine.rows(query.ending(" ORDER BY row_number"))]
        wrong = [each for each in zip(TEXTS, found, expected, strict=True) if each[1] != each[2]]
        assert not wrong, (kind, wrong[:5])
        assert sum(number is not None for number in expected) > 50


def test_the_slow_reader_knows_what_python_knows() -> None:
    for text in ("2024-12-31T08:00:00.1+02:00", "1969-12-31T23:59:59.900000", "2024-12-31"):
        moment = dt.datetime.fromisoformat(text)
        told = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
        micros = (told - EPOCH.replace(tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        assert slowly(text, "moment") == micros / 10**6
    for seconds in (0, 59, 86_399, 90_061.5):
        assert slowly(str(dt.timedelta(seconds=seconds)), "span") == seconds


def test_a_condition_on_the_column_still_compares_texts(tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    path.write_text("day\n2024-01-01\n2024-01-02\n2024-01-02\n7\n", encoding="utf-8")
    table = open_table(TextFile(path, read_as={"day": "date"}), needed=["day"])
    assert table.kind("day") == "text"
    counted: dict[str, Any] = {
        "column": "day",
        "grid": Grid.between((19_723, 19_725)),
        "per_person": "least",
    }
    for condition, people in (("day != '2024-01-01'", [0, 2, 0]), ("day > 5", [0, 0, 0])):
        rows = Rows(where=parse(condition))
        assert people_per_grid_point(table, rows, **counted)[0].tolist() == people
