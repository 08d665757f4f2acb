"""The step `embed`: every text's vector by a frozen encoder, made once for all trainings of the model `probe` and for frozen features."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from cartograph.config import Params as Section
from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.console import progress
from tasks.features import is_wanted as is_filtered
from tasks.features import needs_encoder
from tasks.pretrained import local_folder
from tasks.step import Inputs, Out, Step
from tasks.workspace import ingested, user_file

_DATA = "data/embed"


class Params(Section):
    """Parameters of the frozen encoder; the model `probe` and frozen features alone read them."""

    pretrained: str | None = Field(
        None,
        description="probe and frozen features only: the encoder (of texts, or of images) that makes the vectors: a model's folder, or "
        "a hub id",
    )
    max_length: int = Field(128, ge=4, description="tokens; longer texts are cut")
    batch_size: int = Field(64, ge=1, description="texts read together")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto, cpu, or cuda")
    pooling: Literal["mean", "cls"] = Field("mean", description="a text's vector: mean (of its tokens), or cls (its first token)")


def run(params: Params, inputs: Inputs, out: Out) -> str:
    """Write the embeddings of every ingested set, and of texts the encoder beside them; return how many rows became what."""
    import pyarrow.parquet as pq

    from cartograph.models.embeddings import embed_sets
    from cartograph.models.image_encoder import embed_images
    from cartograph.schema import dataset_info

    folder = local_folder(params.pretrained)
    sets = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/")}
    images = bool(dataset_info(pq.read_schema(sets["train"])).images)
    values = params.model_dump(exclude={"pretrained", "max_length"} if images else {"pretrained"})
    held = "images" if images else "texts"
    with progress("embed", held) as tell:
        embedded = (embed_images if images else embed_sets)(str(folder or params.pretrained), sets, out[_DATA], progress=tell, **values)
    return f"{embedded.texts:,} {held}, {embedded.width} numbers each"


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings["embed"]
    if not isinstance(params, Params):
        raise InputError("section `embed` was not read with its own model.")
    if params.pretrained is None:
        if _is_wanted(settings):
            what = "features of a frozen encoder need" if needs_encoder(settings) else "model `probe` needs"
            raise InputError(f"{what} `embed.pretrained`: the folder of an encoder, or a hub id; set it in params.yaml.")
        return ingested(settings)
    local = (user_file(params.pretrained),) if local_folder(params.pretrained) else ()
    return (*ingested(settings), *local)


def _is_wanted(settings: Settings) -> bool:
    train = settings["train"]
    probes = getattr(train, "model", None) == "probe" and getattr(train, "dynamics", None) is None
    compared = "probe" in getattr(settings.get("bias"), "models", ()) and is_filtered(settings)
    return probes or compared or needs_encoder(settings)


STEP = Step(
    name="embed",
    run=run,
    params=Params,
    inputs=_inputs,
    outputs=(_DATA,),
    resources="gpu",
    libraries=("torch", "transformers", "tokenizers", "safetensors", "numpy", "pyarrow"),
    when=_is_wanted,
)
