# SPDX-License-Identifier: BSD-3-Clause
"""Rules over the profile of a fragment program: for each one traces that have the fault, and traces that
nearly have it.
"""

import json
import random
from pathlib import Path

import pytest

from fragment_traces import number, records_block, summary_block, type_block, write
from tailrace.fragment_profile.facts import Facts
from tailrace.fragment_profile.profile import Profile, read_profile
from tailrace.fragment_profile.rules import FUNCTIONS, RULES, explain, findings, said_of
from tailrace.report.fragments_section import fragments_section
from tailrace.report.page import write_page

TYPES = [type_block(0, "main", "call"), type_block(1, "work"), type_block(2, "other")]


def said(profile: Profile) -> list[str]:
    return [one.rule for one in findings(profile)]


def summed(path: Path, *ranks: dict) -> Profile:
    """A run of which only summaries are known: one rank for each set of arguments."""
    for rank, more in enumerate(ranks):
        blocks = [*TYPES, summary_block(**{"full_until": 0.0, **more})]
        write(path, rank, blocks, ranks=len(ranks))
    return read_profile(path)


def bodies(path: Path, rank: int, ranks: int, lengths: list[float], gap_s: float = 0.0, start: float = 0.0,
           tail: tuple = (), **more) -> None:  # fmt: skip
    """Bodies one after the other on a rank, with a gap of overhead before each, and idle to the end at 10."""
    at, rows = start, []
    if start > 0:
        rows += [(0.0, "idle", 0), (start, "busy", 0)]
    for count, length in enumerate(lengths, 1):
        which = number(rank, count)
        rows += [(start, "create", which, 0, 0, 1), (at, "ready", which, 0, 0, 1)]
        at += gap_s
        rows += [(at, "begin", which, 0, 0, 1), (at + length, "end", which, 0, 0, 1)]
        at += length
        rows += [(at, "destroy", which, 0, 0, 1)]
    useful, spent = sum(lengths), gap_s * len(lengths)
    idle = max(10.0 - useful - spent, 0.0)
    rows += [(at, "idle", 0), (10.0, "busy", 0), *tail]
    rows.sort(key=lambda row: row[0])
    seconds = {"useful": useful, "dependencies": spent, "idle": idle}
    counts = {"begin": len(lengths), **more.pop("counts", {})}
    totals = (len(lengths), len(lengths), more.pop("waited", 0), 0)
    summary = summary_block(seconds=seconds, totals=totals, hops=(len(lengths),), counts=counts, **more)
    write(path, rank, [*TYPES, records_block(rows), summary], ranks=ranks)


@pytest.mark.parametrize(("overhead", "speaks"), [(6.0, True), (3.0, False)])
def test_fragments_too_small(tmp_path, overhead, speaks):
    """100 bodies: useful time of 4 or 7 s beside 6 or 3 s of overhead."""
    seconds = {"useful": 10.0 - overhead, "dependencies": overhead}
    profile = summed(tmp_path, {"seconds": seconds, "counts": {"begin": 100}, "totals": (100, 100, 0, 0)})
    assert said(profile) == (["fragments-too-small"] if speaks else [])
    if speaks:
        finding = findings(profile)[0]
        assert finding.numbers["runtime_per_body_s"] == pytest.approx((6.0 - 100 * 5e-8) / 100)
        assert (*finding.gain, finding.expected) == pytest.approx((1 + (10 / 5 - 1) / 2, 10 / 4, 10 / 5))


@pytest.mark.parametrize(("second", "speaks"), [(2.0, True), (8.0, False)])
def test_imbalance(tmp_path, second, speaks):
    bodies(tmp_path, 0, 2, [1.0] * 9)
    bodies(tmp_path, 1, 2, [1.0] * int(second))
    profile = read_profile(tmp_path)
    assert said(profile) == (["imbalance"] if speaks else [])
    if speaks:
        low, high = findings(profile)[0].gain
        assert low <= 9.0 / 5.5 <= high  # if the work were spread evenly


@pytest.mark.parametrize(("slow", "speaks"), [(0.8, True), (0.5, False)])
def test_a_slow_rank(tmp_path, slow, speaks):
    bodies(tmp_path, 0, 2, [0.4] * 12, start=0.0)
    bodies(tmp_path, 1, 2, [slow] * 12)
    profile = read_profile(tmp_path)
    assert ("rank-is-slower" in said(profile)) == speaks
    if speaks:
        finding = findings(profile)[0]
        assert finding.numbers["median_s"] == pytest.approx(0.8)
        assert finding.numbers["at_same_speed_s"] == pytest.approx(4.8)
        assert finding.gain[1] == pytest.approx(2.0)
        # 9.6 s for 24 bodies of 0.4 s at the speeds 1 and 1/2: 6.4 s.
        assert finding.gain[0] == pytest.approx(1 + (9.6 / 6.4 - 1) / 2)
        assert "imbalance" not in said(profile)  # which it would be, too


@pytest.mark.parametrize(("late", "speaks"), [(0.2, True), (0.012, False)])
def test_oversubscription(tmp_path, late, speaks):
    """Of 100 bodies of 10 ms ten take longer."""
    for rank in (0, 1):
        bodies(tmp_path, rank, 2, [0.01] * 90 + [late] * 10)
    assert ("oversubscribed" in said(read_profile(tmp_path))) == speaks


@pytest.mark.parametrize(("left", "speaks"), [(150, True), (60, False)])
def test_use_counts_missing(tmp_path, left, speaks):
    bodies(
        tmp_path,
        0,
        1,
        [1.0] * 10,
        counts={"store": 200, "release": 200 - left},
        stored=(1600, 1600 - 8 * left),
        left=(left, 8 * left),
    )
    assert said(read_profile(tmp_path)) == (["use-counts-missing"] if speaks else [])


@pytest.mark.parametrize(("moved", "speaks"), [(6, True), (5, False)])
def test_placement_thrashes(tmp_path, moved, speaks):
    profile = summed(
        tmp_path,
        {"seconds": {"useful": 10.0}, "totals": (100, 100, 0, 2 * moved), "hops": (100 - moved, 0, moved),
         "counts": {"begin": 100}},
    )  # fmt: skip
    assert profile.errors == []
    assert said(profile) == (["placement-thrashes"] if speaks else [])


@pytest.mark.parametrize(("unfolding", "speaks"), [(6.0, True), (4.0, False)])
def test_expansion_starves(tmp_path, unfolding, speaks):
    """Rank 0 creates all; of 50 messages that it sends 40 are fragments."""
    first = {"useful": 8.0 - unfolding, "unfolding": unfolding - 0.8, "messages": 1.0, "idle": 1.8}
    counts = {"begin": 10, "forward": 40, "deliver": 10}
    one = {"seconds": first, "counts": counts, "totals": (50, 10, 0, 40), "hops": (10,)}
    two = {"seconds": {"useful": 2.5, "idle": 7.5}, "counts": {"begin": 40}, "totals": (0, 40, 0, 0)}
    profile = summed(tmp_path, one, two | {"hops": (0, 40)})
    found = {finding.rule: finding for finding in findings(profile)}
    assert ("expansion-starves" in found) == speaks
    if speaks:
        finding = found["expansion-starves"]
        assert finding.numbers["creating_s"] == pytest.approx(5.2 + 0.8 * 1.0)
        busy = 8.2 + 2.5
        assert finding.gain == pytest.approx((1 + (20 / busy - 1) / 2, 20 / (busy - 1.0)))


def late(path: Path, wanted: float) -> Profile:
    """Rank 0 runs nine bodies of 1 s and then one of which ten on rank 1 wait for the value, for `wanted`."""
    rows = []
    for at in range(10):
        which = number(0, at + 1)
        rows += [(0.0, "create", which, 0, 0, 1), (0.0, "ready", which, 0, 0, 1)]
        rows += [(at, "begin", which, 0, 0, 1), (at + 1.0, "end", which, 0, 0, 1)]
        rows += [(at + 1.0, "destroy", which, 0, 0, 1)]
    rows += [(10.0, "post", number(0, 10), 999, 8, 1), (10.0, "store", 0, 999, 8), (10.0, "idle", 0)]
    length = wanted / 10
    others = [(0.0, "idle", 0), (10.0, "busy", 0)]
    for at in range(10):
        which, begin = number(1, at + 1), 10.0 + at * length
        others += [(0.0, "create", which, 0, 0, 2), (0.5, "request", which, 999, 0, 2)]
        others += [(0.5, "wait", which, 0, 1, 2), (10.0, "data_arrived", which, 999, 8, 2)]
        others += [(10.0, "resume", which, 0, 0, 2), (10.0, "ready", which, 0, 0, 2)]
        others += [(begin, "begin", which, 0, 0, 2), (begin + length, "end", which, 0, 0, 2)]
        others += [(begin + length, "destroy", which, 0, 0, 2)]
    end = 10.0 + wanted
    rows.append((end, "busy", 0))
    for rank, (records, useful, waited) in enumerate([(rows, 10.0, 0), (others, wanted, 10)]):
        summary = summary_block(
            span=(0.0, end), seconds={"useful": useful, "idle": end - useful}, totals=(10, 10, waited, 0),
            hops=(10,), counts={"begin": 10},
        )  # fmt: skip
        records = sorted(records, key=lambda row: row[0])
        write(path, rank, [*TYPES, records_block(records), summary], ranks=2)
    return read_profile(path)


@pytest.mark.parametrize(("wanted", "speaks"), [(10.0, True), (0.5, False)])
def test_late_inputs(tmp_path, wanted, speaks):
    """In the best order rank 0 would take 10 s, and rank 1 would begin after 1 s."""
    profile = late(tmp_path, wanted)
    found = {finding.rule: finding for finding in findings(profile)}
    assert ("late-inputs" in found) == speaks
    if speaks:
        finding = found["late-inputs"]
        assert finding.numbers["replayed_s"] == pytest.approx(20.0)
        assert finding.numbers["in_best_order_s"] == pytest.approx(11.0)
        assert finding.gain == pytest.approx((1 + (20 / 11 - 1) / 2, 20 / 10))


@pytest.mark.parametrize(("messages", "speaks"), [(6.0, True), (2.0, False)])
def test_small_messages(tmp_path, messages, speaks):
    """Bodies are long enough, and few: messages of others' values take the time."""
    one = {
        "seconds": {"useful": 10.0 - messages, "messages": messages},
        "counts": {"begin": 10, "deliver": 500},
    }
    quiet = {"seconds": {"useful": 0.5, "messages": 0.5, "idle": 9.0}}
    found = {one.rule: one for one in findings(summed(tmp_path, one, quiet))}
    assert ("small-messages" in found) == speaks
    if speaks:
        saved = 6.0 * (1 - 2 * 10 / 500)
        assert found["small-messages"].gain == pytest.approx(
            (1 + (10 / (10 - saved) - 1) / 2, 10 / (10 - saved))
        )


@pytest.mark.parametrize(("cost", "speaks"), [(1e-2, True), (1e-3, False)])
def test_profile_costs(tmp_path, cost, speaks):
    """100 records in 10 s."""
    one = {"seconds": {"useful": 10.0}, "counts": {"begin": 50, "end": 50}, "cost_s": cost}
    assert said(summed(tmp_path, one)) == (["profile-costs"] if speaks else [])


@pytest.mark.parametrize(("quiet", "speaks"), [(3, True), (1, False)])
def test_late_start(tmp_path, quiet, speaks):
    """Two ranks that are idle for the first seconds, and then work."""
    rank = {
        "bins": {"useful": [0.0] * quiet + [1.0] * (10 - quiet), "idle": [1.0] * quiet},
        "counts": {"begin": 9},
    }
    assert said(summed(tmp_path, rank, rank)) == (["late-start"] if speaks else [])


def pipeline(path: Path, transfer_s: float, body_s: float, others: int = 0) -> Profile:
    """A chain of bodies that alternates between two ranks, each with a value from the other one."""
    rows: dict[int, list] = {0: [], 1: []}
    at, last, useful = 0.0, 0, [0.0, 0.0]
    steps = int(10.0 / (transfer_s + body_s))
    for step in range(steps):
        rank, which = step % 2, number(step % 2, step + 1)
        mine = rows[rank]
        mine += [(at, "create", which, 0, 0, 1)]
        if step:
            mine += [(at, "request", which, last, 1 - rank, 1), (at, "wait", which, 0, 1, 1)]
            at += transfer_s
            mine += [(at, "data_arrived", which, last, 8, 1), (at, "resume", which, 0, 0, 1)]
        mine += [(at, "ready", which, 0, 0, 1), (at, "busy", 0), (at, "begin", which, 0, 0, 1)]
        at += body_s
        useful[rank] += body_s
        last = 1000 + step
        mine += [(at, "end", which, 0, 0, 1), (at, "destroy", which, 0, 0, 1)]
        mine += [(at, "post", which, last, 8, 1), (at, "store", 0, last, 8), (at, "idle", 0)]
    for rank in (0, 1):
        count = (steps + 1 - rank) // 2
        summary = summary_block(
            seconds={"useful": useful[rank], "idle": 10.0 - useful[rank]},
            totals=(count, count, count - (rank == 0), 0), hops=(count,), counts={"begin": count},
        )  # fmt: skip
        write(path, rank, [*TYPES, records_block([(0.0, "idle", 0), *rows[rank]]), summary], ranks=2)
    return read_profile(path)


def test_latency_bound(tmp_path):
    profile = pipeline(tmp_path, 0.6, 0.4)
    assert said(profile)[0] == "latency-bound"
    low, high = findings(profile)[0].gain
    assert low == pytest.approx(1 + (9.4 / 4.0 - 1) / 2, rel=0.05)
    assert high == pytest.approx(9.4 / 4.0, rel=0.05)
    assert "late-inputs" not in said(profile)


def test_a_chain_on_one_rank_is_no_imbalance(tmp_path):
    """A second rank has nothing to do, and could do nothing: each body waits for the one before."""
    rows, useful = [(0.0, "idle", 0)], 0.0
    for count in range(1, 11):
        which, at = number(0, count), useful
        rows += [(at, "create", which, 0, 0, 1)]
        if count > 1:
            rows += [(at, "data_arrived", which, 1000 + count - 1, 8, 1)]
        rows += [(at, "ready", which, 0, 0, 1), (at, "busy", 0), (at, "begin", which, 0, 0, 1)]
        useful += 0.99
        rows += [(useful, "end", which, 0, 0, 1), (useful, "destroy", which, 0, 0, 1)]
        rows += [(useful, "post", which, 1000 + count, 8, 1), (useful, "store", 0, 1000 + count, 8)]
        rows += [(useful, "idle", 0)]
    summary = summary_block(
        seconds={"useful": useful, "idle": 0.1}, totals=(10, 10, 0, 0), hops=(10,), counts={"begin": 10}
    )
    write(tmp_path, 0, [*TYPES, records_block(rows), summary], ranks=2)
    write(tmp_path, 1, [*TYPES, summary_block(seconds={"idle": 10.0})], ranks=2)
    assert said(read_profile(tmp_path)) == ["serial-chain"]


def test_serial_chain(tmp_path):
    profile = pipeline(tmp_path, 0.05, 0.95)
    assert said(profile)[0] == "serial-chain"
    assert "latency-bound" not in said(profile)
    assert "late-inputs" not in said(profile)


def fetches(path: Path, repeats: int, latency_s: float, body_s: float) -> Profile:
    """Fragments on rank 1 that ask for 40 values of rank 0, each by so many; rank 0 runs bodies."""
    values = [(0.0, "store", 0, 5000 + key, 8) for key in range(40)]
    rows, at, count = [(0.0, "idle", 0)], 0.0, 0
    for key in range(40):
        for _ in range(repeats):
            count += 1
            which = number(1, count)
            wait = latency_s if count > 3 else 1e-4
            rows += [
                (at, "create", which, 0, 0, 2),
                (at, "request", which, 5000 + key, 0, 2),
                (at + wait, "data_arrived", which, 5000 + key, 8, 2),
                (at + wait, "destroy", which, 0, 0, 2),
            ]
            values.append((at + wait / 2, "deliver", 0, 5000 + key, 1))
            at += 10.0 / (40 * repeats)  # fmt: skip
    rows += [(10.0, "busy", 0)]
    rows.sort(key=lambda row: row[0])
    bodies(path, 0, 2, [body_s] * round(9.0 / body_s), tail=tuple(values), counts={"store": 40})
    summary = summary_block(seconds={"useful": 1.0, "idle": 9.0}, totals=(count, count, 0, 0), hops=(count,))
    write(path, 1, [*TYPES, records_block(rows), summary], ranks=2)
    return read_profile(path)


@pytest.mark.parametrize(("repeats", "speaks"), [(3, True), (1, False)])
def test_values_fetched_twice(tmp_path, repeats, speaks):
    assert ("fetched-twice" in said(fetches(tmp_path, repeats, 1e-4, 0.5))) == speaks


def chase(path: Path, answer_s: float) -> Profile:
    """Rank 0 writes 15 values and runs five bodies of 2 s; rank 1 asks for one after the other, and runs half
    a second on each. While rank 0 is in bodies, answers come at their end, or `answer_s` after requests.
    """
    first = number(0, 1)
    rows = [(0.0, "create", first, 0, 0, 2), (0.0, "ready", first, 0, 0, 2), (0.0, "begin", first, 0, 0, 2)]
    rows += [(0.0, "end", first, 0, 0, 2), (0.0, "destroy", first, 0, 0, 2)]
    rows += [
        (0.0, step, first if step == "post" else 0, 500 + key, 8, 2)
        for key in range(15)
        for step in ("post", "store")
    ]
    for at in range(5):
        which = number(0, at + 2)
        rows += [(0.0, "create", which, 0, 0, 1), (0.0, "ready", which, 0, 0, 1)]
        rows += [(2.0 * at, "begin", which, 0, 0, 1), (2.0 * at + 2.0, "end", which, 0, 0, 1)]
        rows += [(2.0 * at + 2.0, "destroy", which, 0, 0, 1)]
    at, others = 0.0, [(0.0, "idle", 0)]
    for key in range(15):
        which, asked = number(1, key + 1), at
        others += [(0.0, "create", which, 0, 0, 2), (0.0, "wait", which, 0, 2, 2)]
        if key:
            others += [(asked, "data_arrived", which, 700 + key - 1, 8, 2)]
        others += [(asked, "request", which, 500 + key, 0, 2)]
        at = min(asked // 2.0 * 2.0 + 2.0, asked + answer_s) if asked < 10.0 else asked
        others += [(at, "data_arrived", which, 500 + key, 8, 2), (at, "resume", which, 0, 0, 2)]
        others += [(at, "ready", which, 0, 0, 2), (at, "busy", 0), (at, "begin", which, 0, 0, 2)]
        at += 0.5
        others += [(at, "end", which, 0, 0, 2), (at, "destroy", which, 0, 0, 2)]
        others += [(at, "post", which, 700 + key, 8, 2), (at, "store", 0, 700 + key, 8), (at, "idle", 0)]
    end = max(at, 10.0)
    rows += [(10.0, "idle", 0), (end, "busy", 0)]
    others.append((end, "busy", 0))
    for rank, (records, useful, count) in enumerate([(rows, 10.0, 6), (others, 7.5, 15)]):
        summary = summary_block(
            span=(0.0, end), seconds={"useful": useful, "idle": end - useful}, counts={"begin": count},
            totals=(count, count, 15 * rank, 0), hops=(count,),
        )  # fmt: skip
        write(path, rank, [*TYPES, records_block(sorted(records, key=lambda row: row[0])), summary], ranks=2)
    return read_profile(path)


@pytest.mark.parametrize(("answer_s", "speaks"), [(2.0, True), (0.01, False)])
def test_messages_behind_bodies(tmp_path, answer_s, speaks):
    """Five answers come 2 s, 1.5 s, ... after their requests; ten more take no time. Without that rank 0 is
    over after 10 s, and rank 1 after 7.5 s.
    """
    profile = chase(tmp_path, answer_s)
    assert profile.errors == []
    found = {finding.rule: finding for finding in findings(profile)}
    assert ("messages-behind-bodies" in found) == speaks
    if speaks:
        finding = found["messages-behind-bodies"]
        assert finding.numbers["behind_share"] == pytest.approx(1.0)
        assert finding.numbers["replayed_s"] == pytest.approx(15.5)
        assert finding.numbers["answered_at_once_s"] == pytest.approx(10.0)
        assert finding.gain == pytest.approx((1.55, 15.5 / 7.5))


def test_a_good_run_has_no_advice(tmp_path):
    for rank in (0, 1):
        bodies(tmp_path, rank, 2, [0.99] * 10, gap_s=0.01)
    assert said(read_profile(tmp_path)) == []


def test_every_rule_explains_itself(tmp_path):
    bodies(tmp_path, 0, 2, [1.0] * 9)
    bodies(tmp_path, 1, 2, [1.0] * 2)
    profile = read_profile(tmp_path)
    for rule in RULES:
        text = explain(rule.name, profile)
        assert rule.condition in text
        assert ("here: it does not" in text) == (rule.look(Facts(profile))[0] is None)
    assert "load_balance = 0.6111" in explain("imbalance", profile)
    assert "granularity_s = 1" in explain("fragments-too-small", profile)  # though it does not speak
    with pytest.raises(KeyError):
        explain("nothing", profile)


def test_rules_that_exclude_each_other_exist():
    names = {rule.name for rule in RULES}
    assert len(names) == len(RULES)
    assert all(set(rule.excluded_by) <= names - {rule.name} for rule in RULES)


def test_advice_can_be_recomputed_by_hand_from_its_json(tmp_path):
    """From the numbers of each finding alone its condition is true, and its gain what it says."""
    profiles = [
        chase(tmp_path / "chase", 2.0),
        late(tmp_path / "late", 10.0),
        fetches(tmp_path / "far", 3, 1e-4, 0.5),
    ]
    rules, seen = {rule.name: rule for rule in RULES}, set()
    for profile in profiles:
        for advice in json.loads(json.dumps([finding.as_dict() for finding in findings(profile)])):
            rule, numbers = rules[advice["rule"]], advice["numbers"]
            assert eval(rule.condition, {"__builtins__": {}, **FUNCTIONS}, numbers)
            low, expected, high = (
                eval(gain, {"__builtins__": {}, **FUNCTIONS}, numbers)
                for gain in (rule.low, rule.expected, rule.high)
            )
            assert advice["expected"] == pytest.approx(expected)
            assert advice["gain"] == pytest.approx([max(low, 1.0), max(high, expected)])
            seen.add(rule.name)
    assert {"messages-behind-bodies", "late-inputs", "fetched-twice"} <= seen


def test_two_that_exclude_each_other_never_both_speak(tmp_path):
    """Whatever the numbers are: those of a run, each of them replaced by chance."""
    profile, chance = late(tmp_path, 10.0), random.Random(1)
    pairs = {(rule.name, other) for rule in RULES for other in rule.excluded_by}
    names = {name for rule in RULES for name in rule.names}
    silent = 0
    for _ in range(300):
        facts = Facts(profile)
        for name in names:
            facts.__dict__[name] = chance.choice((0.01, 0.5, 1.0, 2.0, 100.0)) * chance.uniform(0.9, 1.1)
        spoken = [one.rule for one in said_of(facts)]
        assert not any((one, other) in pairs for one in spoken for other in spoken)
        silent += sum(rule.look(facts)[0] is not None for rule in RULES) - len(spoken)
    assert silent > 100


def test_the_page_of_64_ranks_stays_below_5_megabytes(tmp_path):
    for rank in range(64):
        bodies(tmp_path / "run", rank, 64, [0.05 + 0.001 * rank] * 60, gap_s=0.01)
    write_page(tmp_path / "page.html", "64 ranks", "", [fragments_section(read_profile(tmp_path / "run"))])
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
