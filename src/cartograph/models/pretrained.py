"""Pretrained networks and their tokenizers: loaded from a local folder or the hub, checked, and saved again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoConfig, AutoTokenizer

from cartograph.data.arrays import Integers32
from cartograph.errors import InputError
from cartograph.models.base import Side
from cartograph.models.encoded import Ragged

PADDED_TO = 8
"""Tokens: the batches of texts are padded to a multiple of it."""

_BLOCK = 10_000
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
_ORIGIN = ("_name_or_path", "name_or_path", "tokenizer_file", "is_local", "local_files_only")
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


def looks_local(pretrained: str) -> bool:
    """Return whether a name can only be a path: hub ids are ``name`` or ``owner/name``."""
    return pretrained.startswith((".", "/", "~")) or pretrained.count("/") > 1 or Path(pretrained).expanduser().exists()


@contextmanager
def source_of(pretrained: str, *, tokenizer: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the argument for ``from_pretrained``, and whether it is a folder; errors of loading become input errors.

    Args:
        pretrained: a local folder or a hub id.
        tokenizer: whether the folder must have one.

    Raises:
        InputError: the folder is not there or lacks a file, which is named; it cannot be loaded; or the hub does not give it.
    """
    source = Path(pretrained).expanduser()
    local = source.is_dir()
    if local:
        _require_files(source, tokenizer=tokenizer)
    elif looks_local(pretrained):
        raise InputError(
            f"pretrained model {pretrained} is no folder; give one with config.json, model.safetensors{' and a tokenizer' * tokenizer}, "
            "or a hub id."
        )
    try:
        yield str(source) if local else pretrained, local
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        raise InputError(_unusable(pretrained, local, error)) from error


def load_network(auto: Any, name: str, *, local: bool, **more: Any) -> Any:
    """Return the network that an Auto class loads: weights from safetensors only, no code from the model's folder."""
    return auto.from_pretrained(name, trust_remote_code=False, use_safetensors=True, local_files_only=local, dtype=torch.float32, **more)


def load_with_new_head(auto: Any, name: str, labels: Sequence[str], *, local: bool, **settings: Any) -> Any:
    """Return such a network with an untrained head for these labels; without any, for as many as it has."""
    config = AutoConfig.from_pretrained(name, trust_remote_code=False, local_files_only=local)
    if labels:
        config.num_labels = len(labels)
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
        config.update(settings)
    network = load_network(auto, name, local=local, config=config, ignore_mismatched_sizes=True)
    _renew_head(network, auto.from_config(config, trust_remote_code=False, dtype=torch.float32))
    return network


def load_tokenizer(name: str, *, local: bool) -> Any:
    """Return a tokenizer that can pad.

    Raises:
        InputError: it cannot.
    """
    tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, local_files_only=local)
    if tokenizer.pad_token_id is None:
        raise InputError(f"{name} has a tokenizer without a padding token, as text generators have; use an encoder.")
    return tokenizer


def takes_bfloat16(config: Any) -> bool:
    """Return whether a network computes with bfloat16 on a GPU; DeBERTa's first version writes numbers that it cannot hold."""
    return bool(config.model_type != "deberta")


def drops_layers(config: Any) -> bool:
    """Return whether a network leaves out whole layers at random in training, as BART can: its steps do not repeat then."""
    return any(getattr(config, f"{part}layerdrop", 0) for part in ("", "encoder_", "decoder_"))


def longest_input(config: Any, tokenizer: Any) -> int:
    """Return how many tokens a network can read."""
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions < 1:  # XLNet, which reads texts of any length, says -1.
        positions = tokenizer.model_max_length
    reserved = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type or config.model_type == "camembert" else 0
    return int(min(positions - reserved, tokenizer.model_max_length))


def tokens_of(tokenizer: Any, sides: Sequence[Side], max_length: int) -> dict[str, Ragged]:
    """Return the tokens of each row, special ones included; the longer side of a pair is cut first."""
    parts: dict[str, list[Integers32]] = {}
    lengths: list[int] = []
    for start in range(0, len(sides), _BLOCK):
        block = sides[start : start + _BLOCK]
        seconds = None if block[0].second is None else [side.second or "" for side in block]
        tokens = tokenizer(
            [side.first for side in block],
            seconds,
            truncation=True,
            max_length=max_length,
            padding=False,
            return_attention_mask=False,
        )
        lengths.extend(len(row) for row in tokens["input_ids"])
        for name, rows in tokens.items():
            parts.setdefault(name, []).append(np.fromiter((token for row in rows for token in row), np.int32))
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return {name: Ragged(np.concatenate(part), offsets) for name, part in sorted(parts.items())}


def padded_tokens(tokenizer: Any, fields: Mapping[str, Ragged]) -> dict[str, torch.Tensor]:
    """Return a network's arguments: the rows of a batch padded to its longest, in steps of eight."""
    fill = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    batch = {name: torch.from_numpy(field.padded(fill.get(name, 0), PADDED_TO)) for name, field in fields.items()}
    lengths = torch.from_numpy(fields["input_ids"].lengths)
    batch["attention_mask"] = (torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]).long()
    return batch


def tokenizer_files(tokenizer: Any) -> dict[str, bytes]:
    """Return the files that a tokenizer is loaded from, by name, without the path or name it was loaded from."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer.save_pretrained(name)
        forget_origin(folder / "tokenizer_config.json")
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def save_network(network: Any, tokenizer: Mapping[str, bytes], folder: Path) -> None:
    """Write the files that ``from_pretrained`` reads, into an existing folder."""
    network.save_pretrained(str(folder))
    for name, content in tokenizer.items():
        (folder / name).write_bytes(content)
    forget_origin(folder / "config.json")


def _renew_head(network: Any, untrained: Any) -> None:
    """Give the head new weights even where the folder has a trained one, so that a map shows this data learnt from the beginning."""
    encoder = network.base_model_prefix + "."
    with torch.no_grad():
        for (name, weight), fresh in zip(network.named_parameters(), untrained.parameters(), strict=True):
            if not name.startswith(encoder):
                weight.copy_(fresh)


class LastInput:
    """What a network's last linear layer was given: kept when the network runs, until it is taken."""

    def __init__(self, network: nn.Module) -> None:
        self._kept: torch.Tensor | None = None
        [module for module in network.modules() if isinstance(module, nn.Linear)][-1].register_forward_pre_hook(self._keep)

    def _keep(self, layer: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        self._kept = arguments[0]

    def take(self) -> torch.Tensor:
        """Return it, (batch, …, width), and let go of it."""
        kept, self._kept = self._kept, None
        assert kept is not None
        return kept


def forget_origin(path: Path) -> None:
    """Remove from a configuration the path or name that the model was loaded from, which differs between machines."""
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = {key: value for key, value in content.items() if key not in _ORIGIN}
    path.write_text(json.dumps(kept, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _require_files(folder: Path, *, tokenizer: bool) -> None:
    wanted = {"config.json": ("config.json",), "model.safetensors": _WEIGHTS}
    if tokenizer:
        wanted["a tokenizer (tokenizer.json or a vocabulary)"] = _TOKENIZERS
    missing = [what for what, names in wanted.items() if not any((folder / name).is_file() for name in names)]
    if missing:
        pickled = " (pytorch_model.bin is not read: pickles can run code; convert it to safetensors)" if _has_pickle(folder) else ""
        raise InputError(f"{folder} is no model folder: it lacks {', '.join(missing)}{pickled}.")


def _has_pickle(folder: Path) -> bool:
    return (folder / "pytorch_model.bin").is_file() and not any((folder / name).is_file() for name in _WEIGHTS)


def _unusable(pretrained: str, local: bool, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0].rstrip(".")
    if local:
        return f"{pretrained} cannot be used as an encoder: {reason}."
    return f"`{pretrained}` is no folder here, and the hub did not give such a model ({reason}); correct it, or name a downloaded folder."
