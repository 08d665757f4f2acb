from __future__ import annotations

import multiprocessing
import time
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import Field, ValidationError

from cartograph.config import Section, Settings, load_settings, read_yaml
from cartograph.errors import InputError


class Measure(Section):
    burn_in: int = Field(0, ge=0)
    easy: float = 0.33


class Train(Section):
    epochs: int = 8


MODELS = {"measure": Measure}


def settings_of(tmp_path: Path, text: str) -> Measure:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, MODELS).of(Measure)


def test_missing_sections_and_keys_take_their_defaults(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "measure: {easy: 0.5}").easy == 0.5
    assert settings_of(tmp_path, "measure:\n").burn_in == 0
    assert settings_of(tmp_path, "{}").burn_in == 0


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        settings_of(tmp_path, "{}").easy = 1.0  # type: ignore[misc]
    given = {"measure": Measure()}
    settings = Settings(given)
    with pytest.raises(TypeError, match="item assignment"):
        settings["train"] = Train()  # type: ignore[index]
    given["measure"] = Measure(burn_in=3)
    assert settings.of(Measure).burn_in == 0


def test_a_section_is_found_by_its_model() -> None:
    settings = Settings({"measure": Measure(burn_in=2), "train": Train()})
    assert settings.of(Measure) is settings.find(Measure) is settings["measure"]
    assert settings.of(Train).epochs == 8
    assert list(settings) == ["measure", "train"] and len(settings) == 2
    here, there = multiprocessing.Pipe()
    here.send(settings)
    assert there.recv() == settings, "they go to the processes of a flow"


def test_a_section_that_settings_lack_is_an_error_that_names_those_they_have() -> None:
    settings = Settings({"measure": Measure()})
    assert settings.find(Train) is None
    with pytest.raises(InputError) as raised:
        settings.of(Train)
    assert str(raised.value) == "these settings have no section of the model Train; their sections: `measure`."
    with pytest.raises(InputError, match="their sections: none"):
        Settings().of(Train)


def test_sections_are_added_or_replaced_in_new_settings() -> None:
    settings = Settings({"measure": Measure()})
    more = settings | {"measure": Measure(burn_in=1), "train": Train()}
    assert isinstance(more, Settings)
    assert (more.of(Measure).burn_in, list(more)) == (1, ["measure", "train"])
    assert dict(settings) == {"measure": Measure()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("meassure: {}", "unknown section `meassure`; did you mean `measure`?"),
        ("zzz: {}", "unknown section `zzz`; known: measure."),
        ("measure: {burnin: 1}", "unknown key `measure.burnin`; did you mean `burn_in`?"),
        (
            "measure: {burn_in: soon}",
            "`measure.burn_in`: input should be a valid integer, unable to parse string as an integer, but is 'soon'.",
        ),
        ("measure: {burn_in: -1}", "`measure.burn_in`: input should be greater than or equal to 0, but is -1."),
        ("measure: 3", "section `measure` must hold keys and values, but holds 3."),
        (
            "measure: {easy: 'https://ann:s3c/ret@host/rows.csv?sig=s3cret&x=1'}",
            "unable to parse string as a number, but is 'https://…@host/rows.csv?…'.",
        ),
        (
            "measure: ['https://ann:s3cret@host/a.csv', 's3://bucket/b.csv?sig=s3cret']",
            "holds ['https://…@host/a.csv', 's3://bucket/b.csv?…'].",
        ),
        ("- 1", "must hold sections (`ingest:`, `train:`, …), but holds list."),
        ("a: [1", "line 1 is not valid YAML"),
    ],
)
def test_a_wrong_file_is_named_with_the_way_out(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        settings_of(tmp_path, text)
    assert message in str(error.value)
    assert str(tmp_path / "params.yaml") in str(error.value)


def test_a_missing_file_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is missing; make a workspace with `python -m tasks init`"):
        read_yaml(tmp_path / "params.yaml")


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes(b"a: \xff")
    with pytest.raises(InputError, match="not UTF-8 text \\(byte 3\\)"):
        read_yaml(tmp_path / "params.yaml")


_TENFOLD = "\n".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in pairwise("abcdef"))
_MEANINGLESS = {
    "section twice": ("measure: {easy: 0.5}\nother:\nmeasure: {}\n", "has `measure` twice, in line 1 and in line 3; keep one of them"),
    "key twice": ("measure:\n  easy: 0.5\n  burn_in: 1\n  easy: 0.5\n", "has `easy` twice, in line 2 and in line 4; keep one of them"),
    "key twice in a line": ("measure: {easy: 0.5, easy: 0.1}", "has `easy` twice, in line 1 and in line 1"),
    "5,000 deep": ("measure: " + "[" * 5_000, "is nested too deeply"),
    "60 deep": ("measure: " + "[" * 60 + "]" * 60, "line 1 is nested deeper than 50 levels"),
    "50 MB": ("#" + "x" * 50_000_000 + "\nmeasure:\n", "has more than 2 MB"),
    "itself": ("measure: &a [*a]", "line 1 holds itself"),
    "aliases": (f"a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n{_TENFOLD}", "comes to more than 500,000 values"),
    "nul": ("measure: \x00", "is not valid YAML: special characters are not allowed"),
    "no date": ("measure: {2020-13-45: 1}", "holds a value that cannot be read (month must be in 1..12"),
    "colon in braces": ("a:\n  b: {c: env:X, d: 1}\n", "line 2 has a colon in a value between braces or brackets, which DVC does not read"),
    "colon in brackets": ("a: [s3://x/y]\n", "line 1 has a colon in a value between braces or brackets, which DVC does not read"),
    "no key": ("measure: {{a: 1}: 2}", "is not valid YAML: found unhashable key"),
}


@pytest.mark.parametrize("name", _MEANINGLESS)
def test_parameters_that_no_one_can_mean_are_refused_soon(tmp_path: Path, name: str) -> None:
    text, said = _MEANINGLESS[name]
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    started = time.process_time()
    with pytest.raises(InputError) as raised:
        read_yaml(path)
    assert said in str(raised.value) and str(raised.value).startswith(str(path))
    assert time.process_time() - started < 10


def test_quoted_colons_and_those_outside_of_brackets_are_read_by_dvc_too(tmp_path: Path) -> None:
    from dvc.utils.serialize import load_yaml

    path = tmp_path / "params.yaml"
    path.write_text('a: {b: \'env:X\', c: "s3://y"}\nd: ["e:f"]\ng: env:X\n', encoding="utf-8")
    assert read_yaml(path) == load_yaml(path) == {"a": {"b": "env:X", "c": "s3://y"}, "d": ["e:f"], "g": "env:X"}


def test_aliases_and_merged_keys_are_no_doubles(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("usual: &usual {easy: 0.5}\nmeasure: {<<: *usual, burn_in: 1}\nother: *usual\n", encoding="utf-8")
    assert read_yaml(path)["measure"] == {"easy": 0.5, "burn_in": 1}


def test_a_folder_in_place_of_the_parameters_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").mkdir()
    with pytest.raises(InputError, match=r"params\.yaml cannot be read"):
        read_yaml(tmp_path / "params.yaml")
