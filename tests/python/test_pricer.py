"""Prices of steps in this process, by librooflua."""

import json
import os
import pathlib
import subprocess
import threading
from array import array

import pytest

import rooflua

KEYS = {"model": "llama-3.1-8b", "hardware": "h200-sxm", "engine": "vllm 0.19"}


@pytest.fixture
def pricer(has_library):
    with rooflua.Pricer(**KEYS) as opened:
        yield opened


def test_a_price_is_that_of_step(pricer):
    command = [os.environ["ROOFLUA"], "step", "--model", KEYS["model"], "--hardware", KEYS["hardware"], "--engine",
               KEYS["engine"], "--prefill", "0+512", "--decode", "2048x63", "--json", "-"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    expected = told["variants"][0]["price"][0]["time_s"]
    assert pricer.price(prefills=[(512, 0)], contexts=[2048] * 63) == expected
    assert pricer.explain(prefills=[(512, 0)], contexts=[2048] * 63)["time_s"] == expected


def test_a_kind_of_attention_beside_the_scenario_is_priced_as_any_other(has_library, tmp_path):
    (tmp_path / "layers" / "attention").mkdir(parents=True)
    shipped = pathlib.Path(os.environ.get("ROOFLUA_HOME", "."))
    text = (shipped / "scripts" / "layers" / "attention" / "chunk.lua").read_text()
    (tmp_path / "layers" / "attention" / "mine.lua").write_text(text)
    times = []
    for kind in ("chunk", "mine"):
        path = tmp_path / f"{kind}.lua"
        path.write_text(f"""return {{ rooflua = 1, kind = "price", hardware = "h200-sxm", engine = "vllm 0.24",
          model = {{ from = "llama-3.1-8b", attention = {{ {{ kind = "full", layers = 8 }},
            {{ kind = "{kind}", layers = 24, chunk = 2048 }} }} }},
          price = {{ {{ name = "decodes", decodes = 16, decode_context_tokens = 160000 }} }} }}""")
        with rooflua.Pricer(path) as opened:
            times.append(opened.price(16, 160000))
            assert any("@" + kind in row["name"] for row in opened.explain(16, 160000)["rows"])
            assert opened.capacity()["starts"]
    assert times[0] == times[1]


def test_what_one_call_gave_is_gone_in_the_next(pricer):
    alone = pricer.price(8, 8000)
    assert pricer.price(8, 8000, prefills=[(512, 0)]) > alone
    assert pricer.price(contexts=[100] * 300) != alone
    assert pricer.price(8, 8000) == alone
    assert pricer.price(8, 8000, ranks=(2, 16, 8, 0)) >= alone
    assert pricer.price(8, 8000) == alone


FORMS = [{"decodes": 8, "context_tokens": 8000}, {"contexts": [100, 2000, 30]},
         {"contexts": array("i", [100, 2000, 30])}, {"prefills": [(4096, 0)]}, {"prefills": [(4096, 0), (64, 128, 1)]},
         {"prefills": ((4096, 64),), "contexts": [7] * 9},
         {"prefills": [(4096, 0)], "decodes": 2, "context_tokens": 70}, {"contexts": [9, 9], "widths": [2, 3]},
         {"decodes": 8, "context_tokens": 70, "ranks": (2, 16, 8, 0)}, {"prefills": [], "decodes": 1}]


def test_a_batch_says_all_of_itself_whatever_came_before(pricer):
    fresh = []
    for batch in FORMS:
        with rooflua.Pricer(**KEYS) as other:
            fresh.append(other.price(**batch))
    assert len(set(fresh)) == len(FORMS) - 1  # a list and an array are one batch
    for i, batch in enumerate(FORMS):
        for j, before in enumerate(FORMS):
            pricer.price(**before)
            assert pricer.price(**batch) == fresh[i], (i, j)


@pytest.mark.parametrize("batch", [{}, {"contexts": []}, {"contexts": array("d", [1.5])},
                                   {"decodes": -1}, {"decodes": 2 ** 32 + 5}, {"decodes": 1.5},
                                   {"decodes": 1, "context_tokens": 2 ** 60}, {"contexts": [-1]},
                                   {"contexts": [2 ** 32 + 5]}, {"contexts": [1], "context_tokens": 3},
                                   {"prefills": [(0, 0)]}, {"prefills": [(1,)]}, {"prefills": [(1, 2, 3)]},
                                   {"decodes": 2, "widths": [1]}, {"decodes": 1, "drafts": (1, 2)}])
def test_a_wrong_batch_is_refused(pricer, batch):
    with pytest.raises(ValueError, match="batch"):
        pricer.price(**batch)
    assert pricer.price(1, 100) > 0


WRONG = [{"contexts": [900000, 900000], "ranks": (1, 2)}, {"contexts": [5, 2 ** 40]}, {"contexts": ["a"]},
         {"contexts": 5}, {"contexts": [10 ** 9 + 1]}, {"prefills": [(512, 0), (1,)]}, {"prefills": 7},
         {"prefills": [(512, 2 ** 40)]}, {"prefills": [(512, 0)], "contexts": ["a"]},
         {"prefills": [(512, 0)], "contexts": [2 ** 31]}, {"decodes": "a"}, {"decodes": 3.5, "prefills": [(4, 4)]},
         {"decodes": 2, "context_tokens": 1.5}, {"decodes": 2, "context_tokens": 2 ** 53 + 1},
         {"contexts": [7, 7], "widths": [2]}, {"contexts": [7, 7], "widths": [2, "a"]},
         {"contexts": [7, 7], "widths": [2, 0]}, {"decodes": 2, "drafts": (1, 2)}, {"decodes": 2, "drafts": (5, 5, 5)},
         {"decodes": 2, "drafts": 1}, {"decodes": 2, "ranks": (2, 1, 1, 0)}, {"decodes": 2, "ranks": "abcd"},
         {"prefills": [(8, 8)], "decodes": 2, "context_tokens": 9, "contexts": [4]}, {"decodes": 0}]


@pytest.mark.parametrize("call", ["price", "explain"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_refused_call_leaves_nothing_behind(pricer, wrong, call):
    with rooflua.Pricer(**KEYS) as fresh:
        expected = [fresh.price(**each) for each in FORMS]
    for before in FORMS:
        pricer.price(**before)
        with pytest.raises(ValueError):
            getattr(pricer, call)(**wrong)
        litter = [array("i", [i] * 64) for i in range(50)]  # freed memory is used again
        assert [pricer.price(**each) for each in FORMS] == expected
        del litter


def test_a_wrong_scenario_is_a_mistake(pricer):
    with pytest.raises(rooflua.Mistake, match="did you mean 'llama-3.1-8b'"):
        rooflua.Pricer(model="llama-3.1-8c", hardware="h200")


def test_closed_and_of_another_thread(pricer):
    problems = []

    def ask():
        try:
            pricer.price(1, 100)
        except RuntimeError as problem:
            problems.append(str(problem))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    pricer.close()
    ask()
    assert len(problems) == 2 and all("another thread" in each for each in problems)


def test_the_memory(pricer):
    found = pricer.capacity()
    assert found["starts"] and found["kv_tokens"] == found["kv_blocks"] * found["block_size"]
