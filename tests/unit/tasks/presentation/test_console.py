"""What reaches the terminal: text that it shows, and never text that it obeys."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event

import pytest

from cartograph.data.progress import Course
from cartograph.errors import InputError, WaitingError
from cartograph.wording import duration, roughly
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
    assert noted == Course(600, 1200, "examples", 300.0)
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
    console._write(Course(1, 2, "rows", 0.0), note)
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
    assert str(Course(30, 1_230, "rows", rate)) == expected


def test_a_step_that_knows_better_says_itself_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines: list[str] = []
    spoken, note = Event(), tmp_path / "aflite.json"
    monkeypatch.setattr(console, "say", lambda line: (lines.append(line), spoken.set()))
    monkeypatch.setattr(console, "monotonic", Clock())
    with console.signs_of_life("aflite", every=0.01, note=note), console.progress("aflite", "rounds at most") as update:
        update(0, 34, 372.0)
        lines.clear()
        spoken.clear()
        assert spoken.wait(60)
        assert console.course_noted(note) == Course(0, 34, "rounds at most", 0.0, 372.0)
        [bar] = console._bars.tasks
        assert console._Left().render(bar).plain == "about 6 min left"
        update(3, 34, 300.0)
        assert console._Rate().render(console._bars.tasks[0]).plain == "", "a rate beside it would say something else"
    assert lines[0].endswith(": 0 of 34 rounds at most, about 6 min left")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "5 s"), (8, "10 s"), (57, "55 s"), (58, "1 min"), (89, "1 min"), (5399, "90 min"), (5400, "1.5 h"), (200_000, "55.6 h")],
)
def test_an_estimated_time_has_few_digits(seconds: float, text: str) -> None:
    assert roughly(seconds) == text


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (61, "1 min 1 s"), (3599, "59 min 59 s"),
        (3600, "1 h 0 min"), (3661, "1 h 1 min"), (90_000, "25 h 0 min"),
    ],
)  # fmt: skip
def test_a_time_is_told_in_seconds_then_minutes_then_hours(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_step_that_did_not_have_to_run_has_no_time() -> None:
    assert (console.time_of(None), console.time_of(0.04), console.time_of(12.26)) == ("cached", "0.0 s", "12.3 s")


def test_long_lines_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 100 + "end"
    console.say(long)
    console.step_line("ingest", long, 1.0)
    console.conclude(WaitingError(long))
    console.complain(long)
    shown = capsys.readouterr()
    assert (shown.out.count("\n"), shown.err.count("\n")) == (3, 1)


def test_numbers_in_an_error_have_no_colour_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console.complain("3 of 10 rows cannot be used.")
    assert capsys.readouterr().err == "\x1b[1merror\x1b[0m 3 of 10 rows cannot be used.\n"


def test_the_rate_counts_from_the_first_that_was_done_in_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes at each look at the clock; what a checkpoint had done already was not done in this time."""
    monkeypatch.setattr(console, "monotonic", Clock())
    with console.progress("train", "rows") as update:
        assert console._courses == {}
        update(200, 0)
        assert console._courses == {}, "of nothing there is no course"
        update(400, 1000)
        assert console._courses["train"] == Course(400, 1000, "rows", 200.0)
        update(100, 1000)
        assert console._courses["train"] == Course(100, 1000, "rows", 0.0), "it began once more"
        update(100, 1000)
        update(300, 1)
        assert console._courses["train"] == Course(300, 1, "rows", 100.0)
        [bar] = console._bars.tasks
        assert (bar.description, bar.completed, bar.total, bar.fields["unit"]) == ("train", 300, 1, "rows")
    assert console._courses == {} and console._bars.tasks == []


def test_the_bar_of_a_step_gives_way_to_that_of_what_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "console", console.Console(force_terminal=True))
    monkeypatch.setattr(console, "LONG_SECONDS", 0.0)
    shown, gone = Event(), Event()
    monkeypatch.setattr(console, "_add", lambda name, unit: (add(name, unit), shown.set())[0])
    with console.signs_of_life("measure", every=0.01):
        assert shown.wait(60)
        monkeypatch.setattr(console, "_remove", lambda bar: (remove(bar), gone.set())[0])
        with console.progress("measure original") as update:
            update(1, 2)
            assert gone.wait(60)
            assert [task.description for task in console._bars.tasks] == ["measure original"]
    assert console._bars.tasks == []


remove = console._remove


def test_how_far_a_step_is_can_be_noted_again_and_again(tmp_path: Path) -> None:
    note = tmp_path / "not yet" / "running" / "train.json"
    for done in (1, 2):
        console._write(Course(done, 2, "rows", 0.5), note)
        assert console.course_noted(note) == Course(done, 2, "rows", 0.5)
    assert [path.name for path in note.parent.iterdir()] == ["train.json"]
