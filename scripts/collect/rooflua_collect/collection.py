"""The loop over rows: it skips those that exist, measures the others, and stops at a limit."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import ModuleType

import torch

from measure.timing import TooSlow
from rooflua_collect import timing
from rooflua_collect.bench import FEW_SETS, MOST_SETS, Bench, Prepared
from rooflua_collect.cases import FORMS, Case, bytes_of, flop_of
from rooflua_collect.kernels import Kernel
from rooflua_collect.machine import Machine, describe
from rooflua_collect.ops import all_reduce, attention, elementwise, gemm, grouped_gemm, launch, memory, sampling
from rooflua_collect.problem import BROKEN, BUDGET, DONE, INCOMPLETE, Problem, TooLarge
from rooflua_collect.progress import Progress
from rooflua_collect.provenance import Provenance
from rooflua_collect.tables import Table
from rooflua_collect.watchdog import watched

PROBES = 4
PROBE_REPEATS = 7
MOST_RESERVED = 0.6  # of the GPU's memory: PyTorch keeps the memory of freed graphs, and libraries cannot use it
FAMILIES: dict[str, ModuleType] = {
    "gemm": gemm, "attention_prefill": attention, "attention_decode": attention, "grouped_gemm": grouped_gemm,
    "memory": memory, "launch": launch, "elementwise": elementwise,
    "sampling": sampling,
}


class Refused(Exception):
    """This row cannot be measured; the text says why."""


class NotHere(Exception):
    """This machine has no kernel for such rows; they are missing, which is no error."""


@dataclass
class Limits:
    """When to stop; checked between rows.

    deadline_s  on time.monotonic()
    signal      number of the signal that was received; 0: none
    """

    deadline_s: float = math.inf
    signal: int = 0

    @property
    def reached(self) -> bool:
        return self.signal != 0 or time.monotonic() > self.deadline_s


@dataclass
class Collection:
    """One run over a list of cases.

    folder  bench_data/<gpu>
    pause_s waiting time after each row, for tests that interrupt
    """

    folder: Path
    bench: Bench
    cases: list[Case]
    limits: Limits
    progress: Progress
    provenance: Provenance
    machine: Machine
    pause_s: float = 0.0
    tables: dict[str, Table] = field(default_factory=dict)
    chosen: dict[tuple[str, str], Kernel | None] = field(default_factory=dict)
    rows_before: dict[str, int] = field(default_factory=dict)
    not_here: dict[str, dict[str, int]] = field(default_factory=dict)  # table -> why rows are missing -> how many
    done: int = 0

    def run(self) -> int:
        """Measures the missing rows. Returns an exit status."""
        try:
            for name in dict.fromkeys(case.table for case in self.cases):
                self._open(name)
            todo = [case for case in self.cases if self._is_open(case)]
            self.done = len(self.cases) - len(todo)
            for (op, _ranks), cases in groupby(todo, key=_family):
                step = self._all_reduce if op == "all_reduce" else self._rows
                if not step(list(cases)):
                    return BUDGET
            return INCOMPLETE if any(self.provenance.refused(name) for name in self.tables) else DONE
        finally:
            self._finish()

    def _open(self, name: str) -> None:
        op = next(case.op for case in self.cases if case.table == name)
        table = Table(self.folder / f"{name}.csv", op)
        if table.repaired:
            self.progress.say(f"{table.path}: a torn last line was cut off")
        self.tables[name] = table
        self.rows_before[name] = len(table.rows)
        there = self.provenance.of(name).get("gpu", self.machine.gpu)
        if table.rows and there != self.machine.gpu:
            raise Problem(f"{table.path}: its rows were measured on {there}; this is {self.machine.gpu}. "
                          "Choose another --out")

    def _is_open(self, case: Case) -> bool:
        return case not in self.tables[case.table] and "/".join(case.key) not in self.provenance.refused(case.table)

    def _rows(self, cases: list[Case]) -> bool:
        """Measures rows one by one. False: stopped before the end."""
        for case in cases:
            if self.limits.reached:
                return False
            self.progress.show(self.done, str(case))
            try:
                self._add(case, self._measure(case))
            except Refused as reason:
                self._refuse(case, str(reason))
            except NotHere as reason:
                self._lack(case.table, str(reason), 1)
            self._make_room()
        return True

    def _lack(self, table: str, reason: str, rows: int) -> None:
        known = self.not_here.setdefault(table, {})
        if reason not in known:
            self.progress.say(f"{table}: {reason}")
        known[reason] = known.get(reason, 0) + rows

    def _measure(self, case: Case) -> timing.Timing:
        kernel, variant = self._kernel(case)
        if kernel is None:
            raise NotHere("no kernel here does it" + (f" ({variant})" if variant else ""))
        begin = time.monotonic()
        found = self._time(kernel, case, timing.REPEATS, lambda reason: self._refuse(case, reason))
        self._spent(case.table, "seconds", begin)
        return found

    def _time(self, kernel: Kernel, case: Case, repeats: int, blame: Callable[[str], None]) -> timing.Timing:
        """Checks a kernel once, then times it. @raises Refused

        blame  is called with the reason if a later run must not try it again
        """
        try:
            with watched(lambda: blame("did not come back")):
                prepared = kernel.prepare(self.bench, case)
                with torch.inference_mode():
                    self._check(prepared)
                    return timing.measure(self.bench, prepared, repeats)
        except (Refused, TooLarge, TooSlow) as reason:
            raise Refused(str(reason)) from None
        except Exception as error:  # noqa: BLE001  kernels come with exceptions of their own
            self._look_after(case, error, blame)
            raise Refused(f"{type(error).__name__}: {error}") from None

    def _spent(self, table: str, what: str, begin: float) -> None:
        """Adds up the time of rows, from which --plan estimates the next run."""
        entry = self.provenance.of(table)
        entry[what] = round(entry.get(what, 0.0) + time.monotonic() - begin, 3)
        if what == "seconds":
            entry["seconds_rows"] = entry.get("seconds_rows", 0) + 1

    def _make_room(self) -> None:
        """Returns memory that PyTorch keeps, because libraries allocate outside of PyTorch."""
        if self.bench.on_gpu:
            device = self.bench.device
            total = torch.cuda.get_device_properties(device).total_memory
            if torch.cuda.memory_reserved(device) > MOST_RESERVED * total:
                torch.cuda.empty_cache()

    @staticmethod
    def _check(prepared: Prepared) -> None:
        error = prepared.error()
        if not error <= prepared.tolerance:  # NaN never passes
            raise Refused(f"differs from the float32 reference by {error:.2g} (at most {prepared.tolerance:g})")

    def _look_after(self, case: Case, error: Exception, blame: Callable[[str], None]) -> None:
        """Cleans up after a failed row. A lack of memory affects one row only; a broken GPU context ends the run."""
        gc.collect()
        if not self.bench.on_gpu:
            return
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except RuntimeError:
            blame(f"broke the GPU context: {error}")
            raise Problem(f"{case}: a kernel broke the GPU context ({error}). Run the same command again: it is "
                          "left out", BROKEN) from None

    def _kernel(self, case: Case) -> tuple[Kernel | None, str]:
        """The kernel that times all rows of this table and variant, and the variant."""
        family = FAMILIES[case.op]
        variant = family.variant(case) if hasattr(family, "variant") else ""
        if (case.table, variant) not in self.chosen:
            self.chosen[case.table, variant] = self._choose(case.table, variant, family)
        return self.chosen[case.table, variant], variant

    def _choose(self, table: str, variant: str, family: ModuleType) -> Kernel | None:
        """The kernel of earlier rows, for a table has one kernel; else the fastest that is right on a few probes."""
        candidates: list[Kernel] = family.kernels(self.bench, table, variant)
        entry = self.provenance.of(table)
        key = f"kernel_{variant}" if variant else "kernel"
        before = entry.get(key)
        if before and self.tables[table].rows:
            for kernel in candidates:
                if kernel.name == before:
                    of = f"library_{variant}" if variant else "library"
                    if kernel.library not in entry.get(of, "").split("; "):
                        entry[of] = f"{entry.get(of, '')}; {kernel.library}".removeprefix("; ")
                    return kernel
            raise Problem(f"{self.tables[table].path}: its rows were measured with {before}, which is not here "
                          f"(here: {', '.join(k.name for k in candidates) or 'none'}). Choose another --out")
        broken = entry.get("broken", [])
        candidates = [kernel for kernel in candidates if kernel.name not in broken]
        probes, begin = self._probes(table, variant, family), time.monotonic()
        scores = {kernel.name: self._score(kernel, probes, table) for kernel in candidates}
        self._spent(table, "seconds_choosing", begin)
        right = [kernel for kernel in candidates if scores[kernel.name] < math.inf]
        if not right:
            return candidates[0] if len(candidates) == 1 else None
        best = min(right, key=lambda kernel: scores[kernel.name])
        entry[key] = best.name
        entry["library" if not variant else f"library_{variant}"] = best.library
        if len(candidates) > 1:
            entry[f"{key}_candidates"] = [
                f"{name}: " + ("failed" if score == math.inf else f"{math.exp(score):.4g} us, geometric mean of "
                               f"{len(probes)} probes") for name, score in scores.items()]
        self._record(table, self.machine.clocks)  # rows are useless without the name of their kernel
        self.provenance.save()
        return best

    def _probes(self, table: str, variant: str, family: ModuleType) -> list[Case]:
        """A few of the coarse rows, from small to large."""
        here = [case for case in self.cases if case.table == table
                and (family.variant(case) if hasattr(family, "variant") else "") == variant]
        coarse = sorted((case for case in here if case.level == here[0].level), key=flop_of)
        step = max(1, (len(coarse) - 1) // max(1, PROBES - 1))
        return coarse[::step][:PROBES]

    def _score(self, kernel: Kernel, probes: list[Case], table: str) -> float:
        """Mean of log(microseconds) over the probes; infinite if the kernel fails on one."""
        total = 0.0

        def blame(reason: str) -> None:
            entry = self.provenance.of(table)
            entry["broken"] = [*entry.get("broken", []), kernel.name]
            self.progress.say(f"{table}: {kernel.name}: {reason}")
            self.provenance.save()

        for probe in probes:
            try:
                total += math.log(self._time(kernel, probe, PROBE_REPEATS, blame).median_us)
            except Refused as reason:
                self.progress.say(f"{table}: not with {kernel.name}: {probe}: {reason}")
                return math.inf
        return total / max(1, len(probes))

    def _all_reduce(self, cases: list[Case]) -> bool:
        if cases[0]["ranks"] > all_reduce.ranks_here(self.bench.device):
            self._lack(cases[0].table, f"this machine has fewer than {cases[0]['ranks']} GPUs", len(cases))
            return True
        entry = self.provenance.of(cases[0].table)
        entry["kernel"], entry["library"] = all_reduce.kernel_name(self.bench.device)
        answers: Iterator[tuple[Case, timing.Timing | str]] = all_reduce.run(cases, self.bench)
        begin = time.monotonic()
        try:
            for case, answer in answers:
                self.progress.show(self.done, str(case))
                if isinstance(answer, str):
                    self._refuse(case, answer)
                else:
                    self._spent(case.table, "seconds", begin)
                    self._add(case, answer)
                begin = time.monotonic()
                if self.limits.reached:
                    return False
        finally:
            answers.close()  # type: ignore[attr-defined]
        return True

    def _add(self, case: Case, found: timing.Timing) -> None:
        self.tables[case.table].add(case, (found.median_us, found.p10_us, found.p90_us))
        self.done += 1
        entry = self.provenance.of(case.table)
        for key, word in (("timer", found.timer), ("inputs", found.inputs)):
            entry[key] = _with(entry.get(key, ""), word)
        if 0 < found.rotated_bytes < 2 * self.bench.cache_bytes <= MOST_SETS * bytes_of(case):
            entry["not_rotated"] = [*entry.get("not_rotated", []), "/".join(case.key)]
        if self.pause_s:
            time.sleep(self.pause_s)

    def _refuse(self, case: Case, reason: str) -> None:
        self.progress.say(f"{case}: left out: {reason}")
        self.provenance.refuse(case.table, "/".join(case.key), reason)

    def _record(self, name: str, clocks: str) -> None:
        """Updates the entry of a table in tables.toml. Machine and date only change when rows were added."""
        table, entry = self.tables[name], self.provenance.of(name)
        planned = [case for case in self.cases if case.table == name]
        missing = sum(case not in table for case in planned)
        because = "".join(f"; {reason}" for reason in sorted(self.not_here.get(name, ())))
        entry.update(
            op=planned[0].op, dtype=planned[0].dtype, flop=FORMS[planned[0].op].flop, warm_up=timing.WARM_UP,
            repeats=timing.REPEATS, rotation=self._rotation(name, planned[0].op),
            check="each row against float32", rows=len(table.rows),
            missing=f"{missing} of {len(planned)} planned rows{because}" if missing else "nothing")
        if len(table.rows) == self.rows_before[name] and "clocks" in entry:
            return
        entry["clocks"] = clocks
        for key in ("gpu", "driver", "date"):
            entry[key] = _with(entry.get(key, ""), getattr(self.machine, key))

    def _rotation(self, name: str, op: str) -> str:
        """Text for tables.toml: the bytes that pass between two uses of the same inputs, for the rows of a table."""
        cache = self.bench.cache_bytes
        moved = [bytes_of(Case.of(name, op, key)) for key in self.tables[name].rows]
        if not cache or not any(moved):
            return "none: one set of inputs" + ("" if cache else " (a rehearsal)")
        text = f"more than twice the last-level cache ({cache / 2**20:.0f} MiB) passes between two uses of an input"
        small = sum(each * MOST_SETS < 2 * cache for each in moved)
        if small:
            text += (f"; but for {small} rows that move less than {2 * cache / MOST_SETS / 1024:.0f} KiB a call: "
                     f"they go through {FEW_SETS} sets, which stay in the cache")
        if self.provenance.of(name).get("not_rotated"):
            text += "; and but for those of not_rotated, whose other sets would take too long or too much memory"
        return text

    def _finish(self) -> None:
        """Closes the tables and writes tables.toml."""
        try:
            after = describe(self.bench.device).clocks
        except RuntimeError:  # the context is broken
            after = "unknown"
        for name, table in self.tables.items():
            if name not in self.rows_before:
                continue
            self._record(name, f"before: {self.machine.clocks}; after: {after}")
            table.close()
        self.provenance.save()


def _with(known: str, word: str) -> str:
    """Adds a word that holds for some of the rows to a list of such words, once."""
    return known if not word or word in known.split("; ") else f"{known}; {word}".removeprefix("; ")


def _family(case: Case) -> tuple[str, int]:
    """Key of cases that are measured together: an all-reduce needs its own processes for each number of ranks."""
    return case.op, case["ranks"] if case.op == "all_reduce" else 0


def stops(limits: Limits) -> Callable[[int, object], None]:
    """A signal handler: the first one stops between two rows, the second at once."""

    def handler(number: int, _frame: object) -> None:
        if limits.signal:
            raise KeyboardInterrupt
        limits.signal = number

    return handler
