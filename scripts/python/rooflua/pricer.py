"""Prices of steps by the library librooflua, in this process. docs/LIBRARY.md says how a simulator uses it.

    pricer = rooflua.Pricer(model="llama-3.1-8b", hardware="h200", engine="vllm 0.19")
    pricer.price(decodes=64, context_tokens=64 * 2048)                    seconds
    pricer.price(prefills=[(512, 0)], contexts=[100, 2000, 2001])         (new, context) of each prompt
    pricer.explain(decodes=1, context_tokens=100)["rows"]                 operation by operation
"""

from __future__ import annotations

import ctypes
import json
import os
from array import array
from operator import index

from .library import ERROR_BYTES, HANDLE, SIZE, TEXT, Closing, document, load, opened, refuse

_MOST_REQUESTS, _MOST_TOKENS = 1_000_000, 2 ** 53  # rooflua.h; ctypes would cut a larger number off


class _Batch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("prefills", ctypes.c_void_p), ("prefill_count", ctypes.c_int32),
                ("decodes", ctypes.c_int32), ("decode_contexts", ctypes.c_void_p),
                ("decode_context_tokens", ctypes.c_int64), ("decode_context_max", ctypes.c_int64),
                ("decode_widths", ctypes.c_void_p), ("decode_tokens", ctypes.c_int64),
                ("draft_rows", ctypes.c_int32), ("draft_tokens", ctypes.c_int32), ("draft_passes", ctypes.c_int32),
                ("ranks", ctypes.c_int32), ("ranks_tokens", ctypes.c_int32), ("ranks_max_tokens", ctypes.c_int32),
                ("ranks_prefills", ctypes.c_int32)]


class _Memory(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kv_tokens", ctypes.c_int64), ("kv_blocks", ctypes.c_int64),
                ("block_size", ctypes.c_int64), ("max_num_seqs", ctypes.c_int64),
                ("max_num_batched_tokens", ctypes.c_int64), ("max_model_len", ctypes.c_int64),
                ("total_bytes", ctypes.c_double), ("budget_bytes", ctypes.c_double), ("kv_bytes", ctypes.c_double),
                ("starts", ctypes.c_int32), ("text", ctypes.c_char * 512)]


def _numbers(what, values):
    """The values as int32, and their address; the array lives as long as C reads it. An array("i") is not copied."""
    if type(values) is array and values.typecode == "i":
        found = values
    else:
        try:
            found = array("i", values)
        except OverflowError:
            raise ValueError(f"batch: {what}: a number is beyond 2^31") from None
    return found, found.buffer_info()[0] if found else None


def _chunks(prefills):
    """Three numbers of each prompt: new tokens, context tokens, and 1 if chunks of it follow."""
    rows = []
    for each in prefills:
        rows.extend(each if len(each) == 3 else (*each, 0))
    if len(rows) != 3 * len(prefills):
        raise ValueError("batch: prefills: expected (new tokens, context tokens) of each, or a third 1 after them")
    return rows


def _check(what, value, most):
    if not 0 <= value <= most:
        raise ValueError(f"batch: {what}: expected a whole number from 0 to {most}, found {value}")


def _load():
    library = load()
    batch = ctypes.POINTER(_Batch)
    library.rooflua_open.argtypes = [TEXT, TEXT, TEXT, SIZE]
    library.rooflua_open.restype = HANDLE
    # The price is asked for often: its arguments have their types already, and ctypes need not check them.
    library.rooflua_price.restype = ctypes.c_int
    library.rooflua_explain.argtypes = [HANDLE, batch, TEXT, SIZE]
    library.rooflua_capacity.argtypes = [HANDLE, ctypes.POINTER(_Memory)]
    library.rooflua_close.argtypes = [HANDLE]
    library.rooflua_close.restype = None
    return library


class Pricer(Closing):
    """The prices of one scenario. It belongs to the thread that made it."""

    def __init__(self, scenario=None, *, set=None, **keys):  # noqa: A002, as in rooflua.run
        """
        :param scenario: path of a scenario of kind "price" or "serve"; without it the keywords say it all
        :param set: {key: value} as --set has them; "command" is a launch command of an engine
        :param keys: keys of the scenario: model, hardware, engine, deployment, ...
        :raises Mistake: if the scenario is wrong
        """
        self._handle = None
        self._library = _load()
        overrides = {**keys, **(set or {})}
        self._error = ctypes.create_string_buffer(ERROR_BYTES)
        path = None if scenario is None else os.fsencode(scenario)
        given = None if scenario is not None and not overrides else json.dumps(overrides, allow_nan=False).encode()
        self._handle = opened(self._library.rooflua_open, path, given)
        self._batch = _Batch(size=ctypes.sizeof(_Batch))
        self._seconds = ctypes.c_double()
        self._arrays = ()
        self._price = self._library.rooflua_price
        self._by_reference = (self._handle, ctypes.byref(self._batch), ctypes.byref(self._seconds), self._error,
                              SIZE(ERROR_BYTES))
        self._form = "sum"  # what the batch of C may have: decodes and their sum; or prompts and contexts; or all

    def _fill(self, prefills, decodes, context_tokens, contexts, widths, drafts, ranks):
        """Everything is read before the batch of C is changed: what is refused leaves it as it was."""
        if contexts is not None:
            if context_tokens or decodes not in (0, len(contexts)):
                raise ValueError("batch: contexts says it all; leave out decodes and context_tokens")
            decodes = len(contexts)
        if widths is not None and len(widths) != decodes:
            raise ValueError(f"batch: widths: expected {decodes}, one of each decode, found {len(widths)}")
        _check("decodes", decodes, _MOST_REQUESTS)
        _check("context_tokens", context_tokens, _MOST_TOKENS)
        chunks, prefills_at = _numbers("prefills", _chunks(prefills))
        each_context, contexts_at = _numbers("contexts", () if contexts is None else contexts)
        each_width, widths_at = _numbers("widths", () if widths is None else widths)
        numbers = _numbers("drafts and ranks", (*(drafts or (0, 0, 0)), *(ranks or (0, 0, 0, 0))))[0]
        if len(drafts or (0, 0, 0)) != 3 or len(numbers) != 7:
            raise ValueError("batch: expected three numbers of drafts and four of ranks")
        count = index(decodes), index(context_tokens)
        batch = self._batch
        batch.prefills, batch.decode_contexts, batch.decode_widths = prefills_at, contexts_at, widths_at
        batch.draft_rows, batch.draft_tokens, batch.draft_passes = numbers[:3]
        batch.ranks, batch.ranks_tokens, batch.ranks_max_tokens, batch.ranks_prefills = numbers[3:]
        batch.prefill_count, (batch.decodes, batch.decode_context_tokens) = len(prefills), count
        self._arrays = chunks, each_context, each_width
        self._form = "all"

    def _use(self, form):
        """From now on fields that this form does not have are zero, and are not set again."""
        if self._form != form:
            self._fill((), 0, 0, None, None, None, None)
            self._form = form

    def _fill_lists(self, prefills, contexts):
        """Prompts and the context of each decode: what a step of an engine has."""
        chunks, prefills_at = _numbers("prefills", _chunks(prefills))
        each_context, contexts_at = _numbers("contexts", contexts)
        self._use("lists")
        batch = self._batch
        batch.prefills, batch.prefill_count = prefills_at, len(prefills)
        batch.decode_contexts, batch.decodes = contexts_at, len(each_context)
        self._arrays = chunks, each_context

    def price(self, decodes=0, context_tokens=0, *, prefills=(), contexts=None, widths=None, drafts=None, ranks=None):
        """Seconds of one step.

        :param decodes: requests that decode, with the sum of their context_tokens
        :param prefills: (new tokens, context tokens) of each prompt; a third 1 says that chunks of it follow
        :param contexts: in place of decodes and context_tokens the context of each; an array("i") is read in place
        :param widths: tokens of each decode, 1 + its drafts
        :param drafts: (requests, drafts, most drafts of one) that the next step gets
        :param ranks: (ranks, their tokens, most tokens of one, ranks that prefill) that step together
        :raises ValueError: if a number is wrong
        """
        try:
            if (widths or drafts or ranks) or (prefills or contexts is not None) and (decodes or context_tokens):
                self._fill(prefills, decodes, context_tokens, contexts, widths, drafts, ranks)
            elif prefills or contexts is not None:
                self._fill_lists(prefills, () if contexts is None else contexts)
            else:
                if not (0 <= decodes <= _MOST_REQUESTS and 0 <= context_tokens <= _MOST_TOKENS):
                    _check("decodes", decodes, _MOST_REQUESTS)
                    _check("context_tokens", context_tokens, _MOST_TOKENS)
                decodes, context_tokens = index(decodes), index(context_tokens)
                self._use("sum")
                batch = self._batch
                batch.decodes = decodes
                batch.decode_context_tokens = context_tokens
        except TypeError as problem:
            raise ValueError(f"batch: {problem}") from None
        code = self._price(*self._by_reference)
        if code:
            refuse(code, self._error.value.decode(errors="replace"))
        return self._seconds.value

    def explain(self, decodes=0, context_tokens=0, *, prefills=(), contexts=None, widths=None, drafts=None,
                ranks=None):
        """The same step operation by operation: a dict with time_s, evidence, rows, notes and scenario."""
        try:
            self._fill(prefills, decodes, context_tokens, contexts, widths, drafts, ranks)
        except TypeError as problem:
            raise ValueError(f"batch: {problem}") from None
        return document(self._library.rooflua_explain, self._handle, ctypes.byref(self._batch))

    def capacity(self):
        """How many tokens the KV cache holds: a dict of the fields of rooflua_memory (rooflua.h)."""
        memory = _Memory(size=ctypes.sizeof(_Memory))
        code = self._library.rooflua_capacity(self._handle, ctypes.byref(memory))
        if code:
            refuse(code, memory.text.decode(errors="replace"))
        found = {name: getattr(memory, name) for name, _ in _Memory._fields_ if name != "size"}
        return {**found, "starts": bool(memory.starts), "text": memory.text.decode(errors="replace")}

    def close(self):
        """Frees it. A closed pricer answers with an error: its number is never given again."""
        if self._handle:
            self._library.rooflua_close(self._handle)
