"""A recipe as Hugging Face's Trainer takes it."""

from __future__ import annotations

from pathlib import Path

from transformers import TrainingArguments

from cartograph.models.base import Classifier
from cartograph.models.device import chosen_device, has_bfloat16
from cartograph.train.recipe import Recipe

MOST_NORM = 1.0
"""Gradients of a larger norm are cut to it."""


def training_arguments(recipe: Recipe, model: Classifier, n_examples: int, folder: Path) -> TrainingArguments:
    """Return the arguments of a training by this recipe; of several GPUs in one process it takes one."""
    device = chosen_device(recipe.device)
    arguments = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=max(recipe.batch_size // recipe.gradient_accumulation, 1),
        gradient_accumulation_steps=recipe.gradient_accumulation,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=0,
        optim="adamw_torch_fused",
        weight_decay=0.0,
        adam_epsilon=1e-8,
        max_grad_norm=MOST_NORM,
        bf16=model.mixed_precision and has_bfloat16(device),
        use_cpu=device.type == "cpu",
        seed=recipe.seed,
        save_strategy="no",
        eval_strategy="no",
        report_to="mlflow" if recipe.live else "none",
        logging_strategy="steps" if recipe.live else "no",
        logging_steps=max(-(-n_examples // recipe.batch_size) // 20, 1),
        logging_nan_inf_filter=False,
        log_level="error",
        log_level_replica="error",
        disable_tqdm=True,
        label_names=["labels"],
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=model.has_unused,
    )
    _ = arguments.device
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1
    return arguments
