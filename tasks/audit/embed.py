"""The step `embed`: a frozen encoder's vector of every row, made once for `noise`, the model `probe` and frozen features."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.audit.filtering import features_need_encoder
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.embed import Embed
from tasks.audit.plan import needs_encoder
from tasks.audit.pretrained_folder import local_folder
from tasks.engine.digest import digest_json
from tasks.engine.receipt import code_digests, versions
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import user_file
from tasks.presentation.console import progress

_DATA = "data/embed"


def run(params: Embed, inputs: Inputs, out: Out) -> str:
    """Write the embeddings of every ingested set, and of texts the encoder beside them; return how many rows became what.

    Vectors of texts are kept that this step left when it last ran, where the encoder, the code and the libraries are the same: DVC leaves
    its output in place, and ``dvc pull`` brings it to another machine.
    """
    import pyarrow.parquet as pq

    from cartograph.models.frozen.image_encoder import embed_images
    from cartograph.schema import dataset_info

    sets = {Path(name).stem: inputs[name] for name in inputs if name.startswith("data/ingest/")}
    if dataset_info(pq.read_schema(sets["train"])).images:
        name, values = str(local_folder(params.pretrained) or params.pretrained), _values(params)
        values.pop("max_length")
        with progress("embed", "images") as update:
            embedded = embed_images(name, sets, out[_DATA], progress=update, **values)
        return f"{embedded.texts:,} images, {embedded.width} numbers each"
    return embed_texts(params, sets, out)


def embed_texts(params: Embed, sets: Mapping[str, Path], out: Out) -> str:
    """Write the vectors of sets of texts, and the encoder beside them; return how many rows became what.

    Args:
        params: of the step.
        sets: files of examples by name.
        out: of the step.
    """
    from cartograph.models.frozen.embeddings import embed_sets

    name, values = str(local_folder(params.pretrained) or params.pretrained), _values(params)
    earlier = out.workspace.resolve(_DATA) if params.keep else None
    with progress("embed", "texts") as update:
        embedded = embed_sets(name, sets, out[_DATA], earlier=earlier, identity=_identity(), progress=update, **values)
    kept = f"; vectors of {embedded.kept:,} rows kept" if embedded.kept else ""
    return f"{embedded.texts:,} texts, {embedded.width} numbers each{kept}"


def _values(params: Embed) -> dict[str, Any]:
    return params.model_dump(exclude={"pretrained", "file", "keep"})


def _identity() -> str:
    """Return what decides a vector besides the encoder's files and the text."""
    return digest_json([versions(STEP.libraries), code_digests(STEP)])


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Embed)
    if params.pretrained is None:
        if needs_encoder(settings):
            what = "features of a frozen encoder need" if features_need_encoder(settings) else "model `probe` needs"
            raise InputError(f"{what} `embed.pretrained`: the folder of an encoder, or a hub id; set it in params.yaml.")
        return ingested_sets(settings)
    return (*ingested_sets(settings), *encoder_files(params))


def encoder_files(params: Embed) -> tuple[str, ...]:
    """Return the declared name of the encoder where it is a folder on disk."""
    return (user_file(params.pretrained),) if params.pretrained is not None and local_folder(params.pretrained) else ()


STEP = Step(
    name="embed",
    run=run,
    params=Embed,
    inputs=_inputs,
    outputs=(_DATA,),
    libraries=("torch", "transformers", "tokenizers", "safetensors", "numpy", "pyarrow"),
    when=needs_encoder,
    hints=Hints(resources="gpu"),
)
