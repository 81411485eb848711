"""GPUs with a datasheet (bench_data/<gpu>/hardware.toml), and the check that this machine has the named one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rooflua_collect.models import read_toml
from rooflua_collect.problem import Problem, unknown


@dataclass(frozen=True)
class Gpu:
    """Figures of a datasheet that reports compare with.

    peak_flop_per_s  by dtype, dense; bytes_per_s of device memory
    """

    name: str
    aliases: tuple[str, ...]
    peak_flop_per_s: dict[str, float]
    bytes_per_s: float
    path: Path


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower().removeprefix("nvidia") if letter.isalnum())


def read_gpus(bench_data: Path) -> list[Gpu]:
    """Every GPU of the folder."""
    found = []
    for path in sorted(bench_data.glob("*/hardware.toml")):
        keys: dict[str, Any] = read_toml(path)
        peaks = {dtype: tera * 1e12 for dtype, tera in keys.get("peak_tflop_per_s", {}).items()}
        found.append(Gpu(path.parent.name, tuple(keys.get("aliases", ())), peaks, keys["memory_gb_per_s"] * 1e9, path))
    if not found:
        raise Problem(f"{bench_data}: holds no <gpu>/hardware.toml")
    return found


def named(gpus: list[Gpu], name: str) -> Gpu:
    """Finds a GPU by its folder or an alias."""
    for gpu in gpus:
        if _plain(name) in {_plain(each) for each in (gpu.name, *gpu.aliases)}:
            return gpu
    problem = unknown("GPU", name, [gpu.name for gpu in gpus])
    raise Problem(f"--gpu: {problem}. A new GPU first needs bench_data/NAME/hardware.toml (docs/DATA.md)")


def check_device(gpus: list[Gpu], wanted: Gpu, device_name: str) -> None:
    """Raises an error if times of one GPU would be stored under the name of another."""
    plain = _plain(device_name)
    known = [gpu for gpu in gpus if plain in {_plain(each) for each in (gpu.name, *gpu.aliases)}]
    if wanted in known:
        return
    if known:
        raise Problem(f"--gpu: this machine has a '{device_name}', which is {known[0].name}, not {wanted.name}")
    raise Problem(f"--gpu: this machine has a '{device_name}', which is no alias of {wanted.name}; if it is one, "
                  f"add it to the aliases in {wanted.path}")


def place_datasheet(gpu: Gpu, folder: Path) -> None:
    """Tables are read together with a hardware.toml: a folder elsewhere gets a copy."""
    if not (folder / "hardware.toml").exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(gpu.path, folder / "hardware.toml")
        except OSError as error:
            raise Problem(f"--out: {folder} cannot be written: {error.strerror}") from None
