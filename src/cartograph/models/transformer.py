"""A pretrained encoder from a local folder or the hub, with a new head: sequence classification, or multiple choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoConfig, AutoModelForMultipleChoice, AutoModelForSequenceClassification, AutoTokenizer

from cartograph.errors import InputError
from cartograph.models.base import Ragged, Side, TextModel
from cartograph.schema import DatasetInfo

_BLOCK = 10_000
_SHORTEST = 8
_READING = "cartograph.json"
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
_ORIGIN = ("_name_or_path", "name_or_path", "tokenizer_file", "is_local", "local_files_only")
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


class Transformer(TextModel):
    """Any encoder that the Auto classes know; weights from safetensors only, no code from the model's folder.

    Args:
        network: with ``logits`` in its output, and a linear layer last.
        tokenizer: what turns texts into its tokens.
        task: ``single``, ``pair`` or ``choice``.
        labels: label names in the order of the logits.
        max_length: most tokens of an example.
        tokenizer_files: what ``save`` writes of the tokenizer: the files it was loaded from, because a tokenizer changes as it
            is used; None = as it is now.
    """

    name: ClassVar[str] = "transformer"
    pads: ClassVar[bool] = True
    mixed_precision: ClassVar[bool] = True
    learning_rate: ClassVar[float] = 2e-5

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        task: str,
        labels: Sequence[str],
        max_length: int,
        tokenizer_files: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self._tokenizer_files = tokenizer_files or _files_of(tokenizer)
        self.task = task
        self.labels = tuple(labels)
        self.max_length = min(max_length, _longest(network.config, tokenizer))
        self._features: torch.Tensor | None = None
        _last_layer(network).register_forward_pre_hook(self._keep_features)

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Load the encoder and its tokenizer and put a new head on it.

        Raises:
            InputError: no ``pretrained`` is given; the folder lacks a file, which is named; or the hub does not give it.
        """
        if pretrained is None:
            raise InputError(
                "model `transformer` needs `pretrained`: a folder with config.json, model.safetensors and a tokenizer, or a hub id."
            )
        source = Path(pretrained).expanduser()
        local = source.is_dir()
        if local:
            _require_files(source)
        elif looks_local(pretrained):
            raise InputError(
                f"pretrained model {pretrained} is no folder; give one with config.json, model.safetensors and a tokenizer, or a hub id."
            )
        name = str(source) if local else pretrained
        try:
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, local_files_only=local)
            network = _load_network(info, name, local)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
            raise InputError(_unusable(pretrained, local, error)) from error
        if tokenizer.pad_token_id is None:
            raise InputError(f"{pretrained} has a tokenizer without a padding token, as text generators have; use an encoder.")
        return cls(network, tokenizer, info.task, info.labels, max_length)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        reading = json.loads((folder / _READING).read_text(encoding="utf-8"))
        auto = AutoModelForMultipleChoice if reading["task"] == "choice" else AutoModelForSequenceClassification
        network = auto.from_pretrained(
            str(folder), use_safetensors=True, trust_remote_code=False, local_files_only=True, dtype=torch.float32
        )
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        files = {name: (folder / name).read_bytes() for name in reading["tokenizer"]}
        return cls(network, tokenizer, reading["task"], reading["labels"], reading["max_length"], files)

    def save(self, folder: Path) -> None:
        """Write the files that ``from_pretrained`` reads, and ``cartograph.json``: how examples are read."""
        self.network.save_pretrained(str(folder))
        for name, content in self._tokenizer_files.items():
            (folder / name).write_bytes(content)
        _forget_origin(folder / "config.json")
        reading = {"model": self.name, "task": self.task, "labels": self.labels, "max_length": self.max_length}
        reading["tokenizer"] = sorted(self._tokenizer_files)
        (folder / _READING).write_text(json.dumps(reading, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def read(self, sides: Sequence[Side]) -> dict[str, Ragged]:
        """Return the tokens of each row, special ones included; the longer side of a pair is cut first."""
        parts: dict[str, list[npt.NDArray[np.int32]]] = {}
        lengths: list[int] = []
        for start in range(0, len(sides), _BLOCK):
            block = sides[start : start + _BLOCK]
            seconds = None if block[0].second is None else [side.second or "" for side in block]
            tokens = self.tokenizer(
                [side.first for side in block],
                seconds,
                truncation=True,
                max_length=self.max_length,
                padding=False,
                return_attention_mask=False,
            )
            lengths.extend(len(row) for row in tokens["input_ids"])
            for name, rows in tokens.items():
                parts.setdefault(name, []).append(np.fromiter((token for row in rows for token in row), np.int32))
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        return {name: Ragged(np.concatenate(part), offsets) for name, part in sorted(parts.items())}

    def collate(self, fields: Mapping[str, Ragged]) -> dict[str, torch.Tensor]:
        """Pad the rows of a batch to its longest, in steps of eight."""
        fill = {"input_ids": self.tokenizer.pad_token_id or 0, "token_type_ids": self.tokenizer.pad_token_type_id}
        batch = {name: torch.from_numpy(field.padded(fill.get(name, 0), _SHORTEST)) for name, field in fields.items()}
        lengths = torch.from_numpy(fields["input_ids"].lengths)
        batch["attention_mask"] = (torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]).long()
        return batch

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the network; features are what its last linear layer was given."""
        if self.task == "choice":
            inputs = {name: tensor.reshape(-1, len(self.labels), tensor.shape[1]) for name, tensor in inputs.items()}
        logits = self.network(**inputs).logits
        features, self._features = self._features, None
        assert features is not None
        return logits.reshape(-1, 1) if self.task == "choice" else logits, features

    def _keep_features(self, layer: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
        self._features = arguments[0]


def looks_local(pretrained: str) -> bool:
    """Return whether a name can only be a path: hub ids are ``name`` or ``owner/name``."""
    return pretrained.startswith((".", "/", "~")) or pretrained.count("/") > 1 or Path(pretrained).expanduser().exists()


def _load_network(info: DatasetInfo, name: str, local: bool) -> Any:
    auto = AutoModelForMultipleChoice if info.task == "choice" else AutoModelForSequenceClassification
    config = AutoConfig.from_pretrained(name, trust_remote_code=False, local_files_only=local)
    if info.task != "choice":
        config.num_labels = len(info.labels)
        config.id2label = dict(enumerate(info.labels))
        config.label2id = {label: number for number, label in enumerate(info.labels)}
        config.problem_type = "single_label_classification"
    network = auto.from_pretrained(
        name,
        config=config,
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=local,
        dtype=torch.float32,
        ignore_mismatched_sizes=True,
    )
    _renew_head(network, auto.from_config(config, trust_remote_code=False, dtype=torch.float32))
    return network


def _renew_head(network: Any, untrained: Any) -> None:
    """Give the head new weights even where the folder has one: a map shows how this data is learnt from the beginning."""
    encoder = network.base_model_prefix + "."
    with torch.no_grad():
        for (name, weight), fresh in zip(network.named_parameters(), untrained.parameters(), strict=True):
            if not name.startswith(encoder):
                weight.copy_(fresh)


def _require_files(folder: Path) -> None:
    wanted = {"config.json": ("config.json",), "model.safetensors": _WEIGHTS, "a tokenizer (tokenizer.json or a vocabulary)": _TOKENIZERS}
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


def _last_layer(network: nn.Module) -> nn.Linear:
    return [module for module in network.modules() if isinstance(module, nn.Linear)][-1]


def _longest(config: Any, tokenizer: Any) -> int:
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    reserved = (config.pad_token_id or 0) + 1 if "roberta" in config.model_type or config.model_type == "camembert" else 0
    return int(min(positions - reserved, tokenizer.model_max_length))


def _files_of(tokenizer: Any) -> dict[str, bytes]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer.save_pretrained(name)
        _forget_origin(folder / "tokenizer_config.json")
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _forget_origin(path: Path) -> None:
    """Take the path or name that a model came from out of its configuration: outputs do not tell where they were made."""
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = {key: value for key, value in content.items() if key not in _ORIGIN}
    path.write_text(json.dumps(kept, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
