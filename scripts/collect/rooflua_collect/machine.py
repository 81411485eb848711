"""The machine as it was found. Clocks and power limits are read, never set."""

from __future__ import annotations

import datetime
import subprocess
from dataclasses import dataclass

import torch

from rooflua_collect.bench import Bench, Pool
from rooflua_collect.problem import Problem

POOL_BYTES = 10 * 2**30
POOL_SHARE = 0.3  # of the free memory
REHEARSAL_POOL_BYTES = 8 * 2**20


@dataclass(frozen=True)
class Machine:
    """The machine of a table, as tables.toml records it."""

    gpu: str
    driver: str
    clocks: str
    date: str


def open_device(kind: str) -> torch.device:
    """"cuda" or "cpu". @raises Problem if there is no such device"""
    if kind == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        built = "" if torch.version.cuda else " (this torch was built without CUDA)"
        raise Problem(f"PyTorch {torch.__version__} sees no GPU{built}. To rehearse without one: "
                      "--device cpu --dry-run")
    return torch.device("cuda", torch.cuda.current_device())


def open_bench(device: torch.device) -> Bench:
    """The bench with its pool of inputs, whose size depends on the free memory."""
    torch.backends.cuda.matmul.allow_tf32 = False  # float32 references are float32
    torch.backends.cudnn.allow_tf32 = False
    if device.type == "cpu":
        return Bench(device, Pool(device, REHEARSAL_POOL_BYTES), 0)
    free, _total = torch.cuda.mem_get_info(device)
    cache = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or 64 * 2**20
    return Bench(device, Pool(device, min(POOL_BYTES, int(POOL_SHARE * free))), cache, torch.cuda.Stream(device))


def describe(device: torch.device) -> Machine:
    """Name, driver and clocks at this moment."""
    date = datetime.date.today().isoformat()
    if device.type == "cpu":
        return Machine("CPU (a rehearsal: no measurement of a GPU)", "none", "as found", date)
    fields = "driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.limit,temperature.gpu"
    said = _nvidia_smi(fields, device)
    name = torch.cuda.get_device_name(device)
    if len(said) != 7:
        return Machine(name, "unknown (no nvidia-smi)", "unknown (no nvidia-smi)", date)
    driver, sm, most_sm, memory, most_memory, power, temperature = said
    clocks = (f"SM {sm} of at most {most_sm}, memory {memory} of {most_memory}, power limit {power}, "
              f"{temperature} C; as found")
    return Machine(name, driver, clocks, date)


def identity(device: torch.device) -> str:
    """The name by which nvidia-smi and NVML find the device: "GPU-<uuid>", or its index with an old PyTorch."""
    found = str(getattr(torch.cuda.get_device_properties(device), "uuid", "")) or str(device.index or 0)
    return found if found.isdigit() or found.startswith("GPU-") else f"GPU-{found}"


def _nvidia_smi(fields: str, device: torch.device) -> list[str]:
    command = ["nvidia-smi", "-i", identity(device), f"--query-gpu={fields}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [cell.strip() for cell in done.stdout.strip().splitlines()[0].split(",")]
