"""A kernel that can time the rows of a table. Each op offers candidates; the fastest correct one is used."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import torch

from rooflua_collect.bench import Bench, Prepared
from rooflua_collect.cases import Case


@dataclass(frozen=True)
class Kernel:
    """One way to do an op.

    name     as tables.toml records it
    library  the library it comes from, with its version
    prepare  makes inputs, call and check of one case; raises an error if it cannot do the case
    """

    name: str
    library: str
    prepare: Callable[[Bench, Case], Prepared]


def version(package: str) -> str:
    """"torch 2.11.0", or "" where the package is not installed."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def installed(module: str) -> bool:
    """Whether a module can be imported; does not import it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def torch_version() -> str:
    """Versions of PyTorch, CUDA, cuDNN and cuBLAS."""
    parts = [f"torch {torch.__version__}"]
    if torch.version.cuda:
        parts.append(f"CUDA {torch.version.cuda}")
    if torch.version.cuda and torch.backends.cudnn.is_available():
        parts.append(f"cuDNN {torch.backends.cudnn.version()}")
    for package in ("nvidia-cublas", "nvidia-cublas-cu12"):
        if version(package):
            parts.append(version(package))
            break
    return ", ".join(parts)
