"""All-reduce over the GPUs of one node: one process per rank, NCCL (gloo in a rehearsal on a CPU).

`bytes` are those of one rank's message, bf16. A time is that of the slowest rank, after a barrier.

Messages are summed in place, as engines do. A message is summed once per repeat and grows by a factor of the number
of ranks each time, so it starts with random numbers of about 2^-100. (An average would not grow, but NCCL computes
sums in the switch and averages not.)
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import queue
import socket
import time
from collections.abc import Iterator
from typing import Any

import torch

from measure.timing import WARM_UP, calls_per_repeat
from rooflua_collect.bench import Bench, Pool, Prepared, relative_error
from rooflua_collect.cases import Case
from rooflua_collect.kernels import torch_version
from rooflua_collect.timing import REPEATS, Timing, measure

TOLERANCE = 0.02
PATIENCE_S = 120.0
GRACE_S = 5.0  # waiting time for an answer after a rank has ended
POOL_BYTES = 2**30
SCALE = 2.0**-100
INPUTS = "random normal times 2^-100, summed over the ranks in place"


def ranks_here(device: torch.device) -> int:
    """The number of ranks that this machine can have."""
    return torch.cuda.device_count() if device.type == "cuda" else 2


def kernel_name(device: torch.device) -> tuple[str, str]:
    """The name of the kernel, and its library."""
    if device.type != "cuda":
        return "gloo all_reduce (rehearsal)", torch_version()
    return "NCCL all_reduce", f"{torch_version()}, NCCL " + ".".join(map(str, torch.cuda.nccl.version()))


def run(cases: list[Case], bench: Bench) -> Iterator[tuple[Case, Timing | str]]:
    """Times cases with the same number of ranks; a text instead of a timing says what failed."""
    context = torch.multiprocessing.get_context("spawn")
    answers: Any = context.Queue()
    ranks, port = cases[0]["ranks"], _free_port()
    workers = [context.Process(target=_worker, daemon=True,
                               args=(rank, ranks, port, cases, bench.device.type, bench.cache_bytes, answers))
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
    begin, lost = time.monotonic(), math.inf
    while time.monotonic() - begin < PATIENCE_S:
        with contextlib.suppress(queue.Empty):
            return answers.get(timeout=0.5)
        if not all(worker.is_alive() for worker in workers):
            lost = min(lost, time.monotonic())
        if time.monotonic() - lost > GRACE_S or not any(worker.is_alive() for worker in workers):
            with contextlib.suppress(queue.Empty):
                return answers.get(timeout=0.5)
            return "the process of a rank ended"
    return f"no answer within {PATIENCE_S:.0f} s"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _worker(rank: int, ranks: int, port: int, cases: list[Case], kind: str, cache_bytes: int, answers: Any) -> None:
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
        pool = Pool(device, POOL_BYTES if gpu else 2**23, seed=rank)
        bench = Bench(device, pool, cache_bytes, torch.cuda.Stream(device) if gpu else None)
        for case in cases:
            answer = _one(case, bench, dist)
            if rank == 0:
                answers.put(answer)
    except Exception as error:  # noqa: BLE001  the parent decides what to do about it
        if rank == 0:
            answers.put(f"{type(error).__name__}: {error}")
        raise


def sets_of(message_bytes: int, bench: Bench) -> int:
    """Number of messages of one repeat, each summed once: enough to exceed the cache, and for as many calls as a
    repeat needs at 10 us and 100 GB/s. It does not depend on measured times, so it is the same on every rank."""
    return max(bench.sets_for(message_bytes), calls_per_repeat(10.0 + message_bytes / 100e9 * 1e6, 1))


def _one(case: Case, bench: Bench, dist: Any) -> Timing | str:
    dtype = torch.bfloat16 if bench.on_gpu else torch.float32  # gloo has no bf16 in every version
    count = max(1, case["bytes"] // torch.empty(0, dtype=dtype).element_size())
    sets = sets_of(case["bytes"], bench)
    # check, warm-up and repeats: from 2^-100 to well below 2^127
    assert math.log2(case["ranks"]) * (2 * WARM_UP + REPEATS + 2) < 200
    draw = bench.pool.draw()
    messages = [draw.take(count, dtype=dtype) * SCALE for _ in range(sets)]

    reference = messages[0].float().clone()
    dist.all_reduce(reference)
    dist.all_reduce(messages[0])
    error = relative_error(messages[0], reference)
    worst = torch.tensor(error, device=bench.device)
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    if not worst.item() <= TOLERANCE:
        return f"differs from the float32 sum by {worst.item():.2g}"
    dist.barrier()
    prepared = Prepared(lambda i: dist.all_reduce(messages[i]), sets, lambda: error,
                        graph=case.word("mode") == "graph", set_bytes=case["bytes"], inputs=INPUTS)
    timing = measure(bench, prepared, calls=sets)
    spoiled = not all(bool(torch.isfinite(message).all()) and bool(message.any()) for message in messages)
    slowest = torch.tensor([timing.median_us, timing.p10_us, timing.p90_us, float(spoiled)], device=bench.device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    median, low, high, spoiled_somewhere = slowest.tolist()
    if spoiled_somewhere:
        return "the messages did not stay finite, or became zeros"
    return dataclasses.replace(timing, median_us=median, p10_us=low, p90_us=high)
