"""What reaches the terminal: text that it shows, and never text that it obeys."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event

import pytest

from cartograph.errors import InputError, WaitingError
from tasks.presentation import console

EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x00\u202eevil\u2066"


def test_control_characters_of_labels_never_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    console.say(EVIL)
    console.step_line("ingest", EVIL, None)
    console.complain(EVIL)
    console.conclude(InputError(EVIL))
    shown = capsys.readouterr()
    for line in (shown.out, shown.err):
        assert not {letter for letter in line if not letter.isprintable() and letter != "\n"}
        assert r"\x1b]0;title\x07\x1b[2J\x9b31m\r\x00\u202eevil\u2066" in line


def test_what_belongs_to_writing_stays() -> None:
    text = "5\u00a0% [bold] Übung 日本語 می‌خواهم 👩\u200d🔬\nnext"
    assert console.visible(text) == text


def test_off_a_terminal_a_long_step_says_from_time_to_time_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines: list[str] = []
    spoken, note = Event(), tmp_path / "running" / "retrain.json"

    def say(line: str) -> None:
        lines.append(line)
        spoken.set()

    monkeypatch.setattr(console, "say", say)
    monkeypatch.setattr(console, "monotonic", Clock())
    with console.signs_of_life("retrain@original-1", every=0.01, note=note), console.progress("retrain original 1") as update:
        update(300, 1200)
        update(600, 1200)
        lines.clear()
        spoken.clear()
        assert spoken.wait(60)
        noted = console.course_noted(note)
    assert re.fullmatch(r"retrain@original-1 running for .*: 600 of 1,200 examples, 300/s, 2 s left", lines[0])
    assert noted == console.Course(600, 1200, "examples", 300.0)
    assert console.course_noted(note) is None, "what has ended is not running"


class Clock:
    """A second later each time that it is looked at."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 1
        return self._now


def test_on_a_terminal_a_step_that_counts_nothing_has_a_bar_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "console", console.Console(force_terminal=True))
    monkeypatch.setattr(console, "LONG_SECONDS", 0.0)
    shown = Event()
    monkeypatch.setattr(console, "_add", lambda name, unit: (add(name, unit), shown.set())[0])
    with console.signs_of_life("measure", every=0.01):
        assert shown.wait(60)
        assert [task.description for task in console._bars.tasks] == ["measure"]
    assert console._bars.tasks == []


add = console._add


def test_a_note_that_cannot_be_written_or_read_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "running").write_text("in the way")
    note = tmp_path / "running" / "train.json"
    console._write(console.Course(1, 2, "rows", 0.0), note)
    assert console.course_noted(note) is None
    (tmp_path / "half.json").write_text('{"done": 1')
    assert console.course_noted(tmp_path / "half.json") is None


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (0.0, "30 of 1,230 rows"),
        (0.5, "30 of 1,230 rows, 0.5/s, 40 min 0 s left"),
        (20.0, "30 of 1,230 rows, 20/s, 1 min 0 s left"),
        (20.4, "30 of 1,230 rows, 20/s, 59 s left"),
    ],
)
def test_how_far_a_step_is_has_rate_and_time_left_where_they_are_known(rate: float, expected: str) -> None:
    assert str(console.Course(30, 1_230, "rows", rate)) == expected


def test_what_waits_for_people_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    console.conclude(WaitingError("12 rows wait for a decision."))
    assert capsys.readouterr() == ("waiting 12 rows wait for a decision.\n", "")
    console.conclude(InputError("no such file."))
    assert capsys.readouterr() == ("", "error no such file.\n")


def test_a_step_that_has_ended_lends_its_name_to_none_after_it() -> None:
    with console.signs_of_life("measure"):
        pass
    with console.progress("noise") as update:
        update(1, 2)
        assert set(console._courses) == {"noise"}


def test_the_display_of_several_steps_begins_with_the_first_and_ends_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("start", "stop"):
        monkeypatch.setattr(console._bars, name, lambda name=name: calls.append(name))
    for _ in range(2):
        with console.progress("measure"), console.progress("noise"):
            assert calls[-1] == "start"
    assert calls == ["start", "stop"] * 2
