"""Runs rooflua and reads its results. docs/PYTHON.md has examples.

    r = rooflua.run("chat.lua", set={"workload.rate_per_s": 12}, requests=True)
    r.frame                              a row per variant: parameters, then metrics
    r.requests                           a row per request
    rooflua.results("campaign.sqlite")   what `rooflua run --results` keeps
    rooflua.read("a.json")               any of the files that rooflua writes
    rooflua.call("validate", folder)     the document of any other command
    rooflua.trace.write(rows, "t.csv")   requests for workloads.trace
    rooflua.open("chat.lua")             a simulation that goes step by step, in this process
    rooflua.Pricer(model=..., hardware=...).price(decodes=64, context_tokens=131072)   a step, in this process

The standard library is enough. Where pandas is installed, tables are DataFrames, else lists of dicts.
"""

from . import traces as trace
from .magic import load_ipython_extension
from .pricer import Pricer
from .requests import requests
from .results import Result, results
from .run import Interrupted, Mistake, call, program, run
from .simulation import Simulation, open
from .traces import read
from .watched import Cancelled

__all__ = ["Cancelled", "Interrupted", "Mistake", "Pricer", "Result", "Simulation", "call", "load_ipython_extension",
           "open", "program", "read", "requests", "results", "run", "trace"]
