"""The GPU of this machine through PyTorch: what its driver states, and times of rows."""

import ctypes
import math
import socket
import subprocess
import time

from files import Problem
from kernels import MOST_SETS, check, kernel_of, rank_main, times_of
from shapes import MESSAGES, op_of, work_of
from timing import TooSlow

# By compute capability: family, and dense flop per multiprocessor and clock in 16 and in 8 bits (0: none), from
# NVIDIA's whitepapers of these families.
CAPABILITIES = {(7, 5): ("turing", 1024, 0), (8, 0): ("ampere", 2048, 0), (8, 6): ("ampere", 1024, 0),
                (8, 9): ("ada", 1024, 2048), (9, 0): ("hopper", 4096, 8192), (10, 0): ("blackwell", 8192, 16384),
                (10, 3): ("blackwell", 8192, 16384), (12, 0): ("blackwell", 1024, 2048),
                (12, 1): ("blackwell", 1024, 2048)}


class Gpu:
    """Times of PyTorch's kernels on the first GPU."""

    def __init__(self, facts=None):
        """@param facts  keys of hardware.toml where they are known; None: as the driver states them
        @raises Problem where there is no PyTorch or no GPU"""
        try:
            import torch
        except ImportError as error:
            raise Problem(f"needs PyTorch ({error}); without it: --plan, --rehearse roofline") from None
        if not torch.cuda.is_available():
            raise Problem(f"PyTorch {torch.__version__} sees no GPU. Without one: --plan, --rehearse roofline")
        self.torch, self.ranks = torch, torch.cuda.device_count()
        self.properties = torch.cuda.get_device_properties(0)
        self.name, self.driver = self.properties.name, (nvidia_smi("driver_version") or ["unknown"])[0]
        self.library = f"torch {torch.__version__}, CUDA {torch.version.cuda or torch.version.hip}"
        self.facts = facts or device_facts(torch, self.properties)
        self.fp8 = hasattr(torch, "_scaled_mm") and "fp8" in self.facts["peak_tflop_per_s"]
        self.clocks = self.clock_text()
        self.messages, self.reduced = sorted({size for level in MESSAGES for size in level}), {}

    clock = staticmethod(time.monotonic)

    def rows(self):
        return []

    def clock_text(self):
        said = nvidia_smi("clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu")
        return "SM {} of at most {}, memory {}, power limit {}, {} C; as found".format(*said) if len(said) == 5 \
            else "unknown"

    def about(self, op):
        kernel = {"gemm": "torch.mm; fp8: torch._scaled_mm, one scale per tensor", "all_reduce": "NCCL all_reduce",
                  "attention_prefill": "scaled_dot_product_attention, causal",
                  "attention_decode": "scaled_dot_product_attention, query heads of one KV head as its queries"}
        return {"kernel": kernel.get(op, "PyTorch"), "timer": "CUDA events around replays of a CUDA graph"
                if op != "launch" else "CUDA events; kernel: around plain launches",
                "cache": "inputs rotate: more than twice the L2 passes between two uses, up to 256 sets and 20 ms",
                "clocks": f"before: {self.clocks}; after: {self.clock_text()}"}

    def time(self, row):
        """(median, p10, p90) in microseconds. @raises LookupError where PyTorch has no kernel, or a wrong one"""
        torch, op = self.torch, op_of(row[0])
        if op == "all_reduce":
            return self.all_reduce(row)
        try:
            with torch.inference_mode():
                moved = max(1.0, work_of(row)[1])
                sets = 1 if op == "launch" else min(MOST_SETS, math.ceil(2 * self.facts["l2_mib"] * 2**20 / moved) + 1)
                sets = max(1, min(sets, int(0.4 * torch.cuda.mem_get_info()[0] / moved)))
                call, reference = kernel_of(torch, row, sets)
                check(torch, call, reference, moved)
                return times_of(torch, call, sets, graph=row[1] != ("kernel",))
        except (RuntimeError, NotImplementedError, TypeError, TooSlow) as error:
            torch.cuda.synchronize()
            raise LookupError(f"{type(error).__name__}: {str(error).splitlines()[0]}") from None

    def all_reduce(self, row):
        """Times all messages of as many ranks in one go: starting processes takes longer than timing."""
        ranks, size, _mode = row[1]
        if ranks not in self.reduced:
            self.reduced[ranks] = {}  # where the processes fail, they are not started again
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            answers = self.torch.multiprocessing.get_context("spawn").SimpleQueue()
            try:
                self.torch.multiprocessing.spawn(rank_main, (ranks, port, self.messages, answers), nprocs=ranks)
            except Exception as error:  # noqa: BLE001  of any rank
                raise LookupError(f"{type(error).__name__}: {str(error).splitlines()[-1]}") from None
            self.reduced[ranks] = dict(zip(self.messages, answers.get()))
        if size not in self.reduced[ranks]:
            raise LookupError("the processes of the ranks failed")
        return self.reduced[ranks][size]


def nvidia_smi(fields):
    """What nvidia-smi says of the first GPU, a text for each field; [] where it says nothing."""
    try:
        done = subprocess.run(["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [cell.strip() for cell in done.stdout.strip().split("\n")[0].split(",")]


def driver_attribute(number):
    """An attribute of the first GPU by the CUDA driver (cuDeviceGetAttribute); 0 where there is no such driver."""
    try:
        driver, value, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
            return 0
        return 0 if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) else value.value
    except OSError:
        return 0


def link_gb_per_s():
    """GB/s of all NVLinks in one direction, else of the PCIe slot; and where the figure is from."""
    try:
        said = subprocess.run(["nvidia-smi", "nvlink", "--status", "-i", "0"], capture_output=True, text=True,
                              timeout=20, check=True).stdout
        links = [float(line.split(":")[1].split()[0]) for line in said.splitlines() if "GB/s" in line]
        if links:
            return round(sum(links), 1), f"nvidia-smi nvlink --status: {len(links)} links"
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        pass
    slot = nvidia_smi("pcie.link.gen.max,pcie.link.width.max")
    if len(slot) == 2 and all(cell.isdigit() for cell in slot):
        return round(0.985 * 2 ** (int(slot[0]) - 3) * int(slot[1]), 1), f"nvidia-smi: PCIe {slot[0]} x{slot[1]}"
    return 16, "not known: 16 GB/s are assumed; correct it"


def device_facts(torch, properties):
    """The keys of hardware.toml as the driver states them. @raises Problem where it does not state them"""
    capability = tuple(torch.cuda.get_device_capability(0))
    family, half, eighth = CAPABILITIES.get(capability, ("unknown", 0, 0))
    clock_mhz, memory_khz, bus_bits = driver_attribute(13) / 1e3, driver_attribute(36), driver_attribute(37)
    if not half or not clock_mhz or not memory_khz or not bus_bits:
        raise Problem(f"{properties.name} (compute capability {capability[0]}.{capability[1]}): the driver states no "
                      "peaks: give its datasheet, --hardware hardware.toml")
    sms, tera = properties.multi_processor_count, properties.multi_processor_count * clock_mhz / 1e6
    peaks = {"bf16": round(tera * half, 1), "fp16": round(tera * half, 1)}
    if capability < (8, 0):
        del peaks["bf16"]
    if eighth:
        peaks["fp8"] = round(tera * eighth, 1)
    link, link_source = link_gb_per_s()
    return {"architecture": family, "memory_gb": round(properties.total_memory / 1e9, 1),
            "usable_memory_gib": round(properties.total_memory / 2**30, 2),
            "memory_gb_per_s": round(2 * memory_khz * bus_bits / 8 / 1e6), "link_gb_per_s": link, "sms": sms,
            "clock_mhz": round(clock_mhz), "l2_mib": round(driver_attribute(38) / 2**20, 1), "peak_tflop_per_s": peaks,
            "sources": {"peak_tflop_per_s": f"{sms} SMs x {clock_mhz:.0f} MHz x flop per SM and clock of compute "
                                            f"capability {capability[0]}.{capability[1]} (NVIDIA's whitepapers)",
                        "memory_gb_per_s": f"CUDA driver: {memory_khz / 1e3:.0f} MHz, {bus_bits} bits, double rate",
                        "link_gb_per_s": link_source, "memory_gb": "CUDA driver: all of the memory"}}
