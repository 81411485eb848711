"""All-reduce over the GPUs of one node: one process per rank, NCCL (gloo in a rehearsal on a CPU).

`bytes` are those of one rank's message, bf16. A time is that of the slowest rank, from a barrier on.
"""

from __future__ import annotations

import contextlib
import queue
import socket
from collections.abc import Iterator
from typing import Any

import torch

from rooflua_collect.bench import Bench, Pool, Prepared, relative_error
from rooflua_collect.cases import Case
from rooflua_collect.kernels import torch_version
from rooflua_collect.timing import Timing, measure

TOLERANCE = 0.02
PATIENCE_S = 120.0


def ranks_here(device: torch.device) -> int:
    """How many ranks there can be."""
    return torch.cuda.device_count() if device.type == "cuda" else 2


def kernel_name(device: torch.device) -> tuple[str, str]:
    """What is timed, and whose it is."""
    if device.type != "cuda":
        return "gloo all_reduce (rehearsal)", torch_version()
    return "NCCL all_reduce", f"{torch_version()}, NCCL " + ".".join(map(str, torch.cuda.nccl.version()))


def run(cases: list[Case], device: torch.device) -> Iterator[tuple[Case, Timing | str]]:
    """Times the cases, all of one number of ranks; a text instead of a timing says what went wrong."""
    context = torch.multiprocessing.get_context("spawn")
    answers: Any = context.Queue()
    ranks, port = cases[0]["ranks"], _free_port()
    workers = [context.Process(target=_worker, args=(rank, ranks, port, cases, device.type, answers), daemon=True)
               for rank in range(ranks)]
    for worker in workers:
        worker.start()
    try:
        for case in cases:
            yield case, _answer(answers, workers)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _answer(answers: Any, workers: list[Any]) -> Timing | str:
    waited = 0.0
    while waited < PATIENCE_S:
        with contextlib.suppress(queue.Empty):
            return answers.get(timeout=0.5)
        waited += 0.5
        if not any(worker.is_alive() for worker in workers):
            with contextlib.suppress(queue.Empty):
                return answers.get(timeout=0.5)
            return "the processes of the ranks ended"
    return f"no answer within {PATIENCE_S:.0f} s"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _worker(rank: int, ranks: int, port: int, cases: list[Case], kind: str, answers: Any) -> None:
    """One rank; rank 0 reports."""
    import torch.distributed as dist

    gpu = kind == "cuda"
    device = torch.device("cuda", rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    try:
        dist.init_process_group("nccl" if gpu else "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank,
                                world_size=ranks)
        bench = Bench(device, Pool(device, 2**20, seed=rank), 0, torch.cuda.Stream(device) if gpu else None)
        for case in cases:
            answer = _one(case, bench, dist)
            if rank == 0:
                answers.put(answer)
    except Exception as error:  # noqa: BLE001  the parent decides what to do about it
        if rank == 0:
            answers.put(f"{type(error).__name__}: {error}")
        raise


def calls_of(message_bytes: int) -> int:
    """Calls of one repeat, the same on every rank: about 300 us at 10 us and 100 GB/s."""
    return max(1, min(32, round(300e-6 / (10e-6 + message_bytes / 100e9))))


def _one(case: Case, bench: Bench, dist: Any) -> Timing | str:
    # gloo has no bf16 in every version; its times are a rehearsal's anyway
    dtype = torch.bfloat16 if bench.on_gpu else torch.float32
    count = max(1, case["bytes"] // torch.empty(0, dtype=dtype).element_size())
    message = torch.randn(count, device=bench.device).to(dtype)
    buffer = message.clone()
    reference = message.float()
    dist.all_reduce(reference)
    dist.all_reduce(buffer)
    error = relative_error(buffer, reference)
    worst = torch.tensor(error, device=bench.device)
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    if not worst.item() <= TOLERANCE:
        return f"differs from the float32 sum by {worst.item():.2g}"
    buffer.zero_()  # sums of sums would overflow; the time does not depend on the values
    dist.barrier()
    prepared = Prepared(lambda _i: dist.all_reduce(buffer), 1, lambda: 0.0, graph=case.word("mode") == "graph")
    timing = measure(bench, prepared, calls=calls_of(case["bytes"]))
    times = torch.tensor([timing.median_us, timing.p10_us, timing.p90_us], device=bench.device)
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return Timing(*times.tolist(), timing.repeats, timing.timer)
