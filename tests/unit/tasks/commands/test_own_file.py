"""A file of one's own: a workspace is made for it, found again, and never taken for another file's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cartograph.errors import InputError
from tasks.commands.own_file import take_profile, workspace_for
from tasks.commands.profiles import PROFILES, has_profile
from tasks.pipelines import open_workspace, steps_of
from tests.ingesting import some_rows, write_csv
from tests.label_sets import film_frame


@pytest.fixture
def reviews(project: Path, tmp_path: Path) -> str:
    return write_csv(tmp_path / "My Reviews (2024).csv", "text,label", *some_rows())


def test_the_first_time_makes_a_workspace_named_after_the_file_and_says_where(
    project: Path, reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workspace_for(reviews, text=["text"], label="label") == "workspaces/my-reviews-2024"
    said = capsys.readouterr().out
    assert "train: 40 rows from My Reviews (2024).csv" in said
    assert "Made workspaces/my-reviews-2024/params.yaml" in said and "Next" not in said
    assert has_profile(open_workspace("workspaces/my-reviews-2024").settings, "standard")


def test_the_second_time_continues_in_it_with_the_settings_that_it_has(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = workspace_for(reviews, text=["text"], label="label")
    params = open_workspace(folder).path / "params.yaml"
    params.write_text(params.read_text().replace("seed: 13", "seed: 14"))
    before = params.read_bytes()
    capsys.readouterr()
    assert workspace_for(reviews, text=["text"], label="label") == folder
    assert params.read_bytes() == before
    assert capsys.readouterr().out.startswith("Continuing in workspaces/my-reviews-2024, which was made from this file before")


def test_a_profile_replaces_its_own_keys_alone_and_dvc_yaml_follows(reviews: str) -> None:
    folder = workspace_for(reviews, text=["text"], label="label", profile="quick")
    space = open_workspace(folder)
    quick = {step.section for step in steps_of(space.settings)}
    assert {"measure", "noise", "report"} <= quick and not {"aflite", "retrain", "bias"} & quick
    params = space.path / "params.yaml"
    params.write_text(params.read_text().replace("epochs: auto ", "epochs: 9 "))
    assert workspace_for(reviews, text=["text"], label="label", profile="full") == folder
    full = open_workspace(folder)
    assert has_profile(full.settings, "full") and full.settings["train"].model_dump()["epochs"] == 9
    assert {"aflite", "retrain", "bias"} <= {step.section for step in steps_of(full.settings)}
    assert "retrain:" in (full.path / "dvc.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        ("review", "label", "no column `review`; its columns are text, label"),
        ("text", "sentiment", "no column `sentiment`; its columns are text, label"),
    ],
)
def test_a_missing_column_is_named_and_nothing_is_made(project: Path, reviews: str, text: str, label: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        workspace_for(reviews, text=[text], label=label)
    assert not (project / "workspaces").exists()


def test_a_missing_file_is_named(project: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.csv"):
        workspace_for("absent.csv", text=["text"], label="label")
    assert not (project / "workspaces").exists()


def test_a_workspace_of_another_file_or_column_is_left_alone(reviews: str, tmp_path: Path) -> None:
    folder = workspace_for(reviews, text=["text"], label="label")
    other = write_csv(tmp_path / "other.csv", "text,label", *some_rows())
    with pytest.raises(InputError, match=r"of another file than .*other\.csv\. If this is its next version, name it under ingest\.train"):
        workspace_for(other, text=["text"], label="label", workspace=folder)
    with pytest.raises(InputError, match="does not audit the label column text"):
        workspace_for(reviews, text=["text"], label="text")


def test_a_column_that_links_rows_is_kept_and_asked_for_again(project: Path, tmp_path: Path) -> None:
    rows = write_csv(tmp_path / "spoken.csv", "text,label,speaker", *(f"{line},{row // 4}" for row, line in enumerate(some_rows())))
    folder = workspace_for(rows, text=["text"], label="label", linked="speaker")
    assert open_workspace(folder).settings["ingest"].model_dump()["linked"] == ("speaker",)
    assert workspace_for(rows, text=["text"], label="label", linked="speaker") == folder
    with pytest.raises(InputError, match="does not audit rows that no column links"):
        workspace_for(rows, text=["text"], label="label")
    with pytest.raises(InputError, match="does not audit the linking column source"):
        workspace_for(rows, text=["text"], label="label", linked="source")


def test_who_labelled_is_kept_and_asked_for_again_and_is_for_one_label(project: Path, tmp_path: Path) -> None:
    rows = write_csv(tmp_path / "rated.csv", "text,label,who", *(f"{line},{'ab'[row % 2]}" for row, line in enumerate(some_rows())))
    folder = workspace_for(rows, text=["text"], label="label", labelled_by="who")
    assert open_workspace(folder).settings["ingest"].model_dump()["labelled_by"] == ("who",)
    assert workspace_for(rows, text=["text"], label="label", labelled_by="who") == folder
    with pytest.raises(InputError, match="does not audit labels given by nobody named"):
        workspace_for(rows, text=["text"], label="label")
    with pytest.raises(InputError, match="--labelled-by"):
        workspace_for(rows, text=["text"], label="label", labels=["label"], labelled_by="who", workspace="workspaces/several")


def test_an_encoder_is_kept_and_another_one_is_not_taken_silently(project: Path, reviews: str, tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    folder = workspace_for(reviews, text=["text"], label="label", pretrained=str(tmp_path / "encoder"))
    kept = open_workspace(folder).settings["embed"].model_dump()["pretrained"]
    assert Path(project, kept).resolve() == (tmp_path / "encoder").resolve()
    assert workspace_for(reviews, text=["text"], label="label") == folder, "not named once more, it stays"
    assert workspace_for(reviews, text=["text"], label="label", pretrained=str(tmp_path / "encoder")) == folder
    with pytest.raises(InputError, match=r"with the encoder .*encoder, not hub:other; name it as embed\.pretrained in"):
        workspace_for(reviews, text=["text"], label="label", pretrained="hub:other")
    plain = workspace_for(reviews, text=["text"], label="label", workspace="workspaces/plain")
    with pytest.raises(InputError, match="with no encoder, not hub:other"):
        workspace_for(reviews, text=["text"], label="label", pretrained="hub:other", workspace=plain)


def test_options_and_the_column_that_identifies_a_row_are_kept_and_asked_for_again(project: Path, tmp_path: Path) -> None:
    rows = [f"q{row},The {row} _,loud {row},quiet,{1 + row % 2}" for row in range(20)]
    file = write_csv(tmp_path / "quiz.csv", "id,question,one,two,answer", *rows)
    given = {"text": ["question"], "label": "answer", "options": ["one", "two"], "uid": "id"}
    folder = workspace_for(file, **given)
    kept = open_workspace(folder).settings["ingest"].model_dump()
    assert (kept["options"], kept["uid"]) == ((("one",), ("two",)), ("id",))
    assert workspace_for(file, **given) == folder == workspace_for(file, **given | {"uid": ""})
    for other, message in (
        ({"options": ["two", "one"]}, "does not audit the options two, one"),
        ({"options": []}, "does not audit rows without options"),
        ({"uid": "question"}, "does not audit rows identified by question"),
    ):
        with pytest.raises(InputError, match=message):
            workspace_for(file, **given | other)


def test_a_folder_of_images_is_one_of_images(project: Path, tmp_path: Path) -> None:
    colours = np.random.default_rng(1).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
    for row, pixels in enumerate(colours):
        (tmp_path / "photos" / f"{'ab'[row % 2]}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "photos" / "ab"[row % 2] / f"{row}.png")
    folder = workspace_for(str(tmp_path / "photos"), text=["text"], label="label", image="image")
    settings = open_workspace(folder).settings
    assert settings["train"].model_dump()["model"] == "cnn" and settings["features"].model_dump()["source"] == "pixels"
    assert workspace_for(str(tmp_path / "photos"), text=["text"], label="label", image="image") == folder
    with pytest.raises(InputError, match="does not audit the text column text, rows without images"):
        workspace_for(str(tmp_path / "photos"), text=["text"], label="label", workspace=folder)


def test_a_workspace_takes_another_profile_and_says_so(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    space = open_workspace(workspace_for(reviews, text=["text"], label="label", profile="quick"))
    capsys.readouterr()
    take_profile(space, "")
    take_profile(space, "quick")
    assert not capsys.readouterr().out
    take_profile(space, "full")
    assert capsys.readouterr().out == "Its settings are now those of the profile full.\n"
    assert has_profile(open_workspace(space.relative).settings, "full")
    with pytest.raises(InputError, match="no profile 'thorough'"):
        take_profile(space, "thorough")


def test_an_unknown_profile_is_refused_before_anything_is_read(project: Path) -> None:
    with pytest.raises(InputError, match=f"no profile 'thorough'; use {', '.join(PROFILES)}"):
        workspace_for("absent.csv", text=["text"], label="label", profile="thorough")


def test_a_file_whose_rows_have_several_labels_is_found_again_by_its_label_columns(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    film_frame(60)[0].to_csv(tmp_path / "films.csv", index=False)
    file = str(tmp_path / "films.csv")
    assert workspace_for(file, text=["text"], label="label", labels=["tags"]) == "workspaces/films"
    assert [step.name for step in steps_of(open_workspace("workspaces/films").settings)][:2] == ["ingest", "train"]
    capsys.readouterr()
    assert workspace_for(file, text=["text"], label="label", labels=["tags"]) == "workspaces/films"
    assert capsys.readouterr().out.startswith("Continuing in workspaces/films, ")
    with pytest.raises(InputError, match="it does not audit the label columns love, war"):
        workspace_for(file, text=["text"], label="label", labels=["love", "war"])
    with pytest.raises(InputError, match="--profile does not go with --labels"):
        workspace_for(file, text=["text"], label="label", labels=["tags"], profile="quick")
