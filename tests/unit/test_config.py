from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, ValidationError

from cartograph.config import Params, load_settings, read_yaml
from cartograph.errors import InputError


class Measure(Params):
    burn_in: int = Field(0, ge=0)
    easy: float = 0.33


MODELS = {"measure": Measure}


def settings_of(tmp_path: Path, text: str) -> Measure:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, MODELS)["measure"]  # type: ignore[return-value]


def test_missing_sections_and_keys_take_their_defaults(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "measure: {easy: 0.5}").easy == 0.5
    assert settings_of(tmp_path, "measure:\n").burn_in == 0
    assert settings_of(tmp_path, "{}").burn_in == 0


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        settings_of(tmp_path, "{}").easy = 1.0  # type: ignore[misc]


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
