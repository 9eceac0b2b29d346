# SPDX-License-Identifier: BSD-3-Clause
"""Rules that say what to change. Each one looks at numbers of the profile, against a threshold, and predicts
what following it gains, with both bounds; all of it can be recomputed by hand (`--explain RULE`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace.fragment_profile.profile import Profile
from tailrace.fragment_profile.shares import over_time
from tailrace.trace import ACTIVITIES, STEPS


@dataclass(frozen=True)
class Finding:
    """That a rule speaks. `gain`: by what factor the program can become faster, from and to, or None where
    the gain is not one of time. `numbers`: all that the rule has used, by name.
    """

    rule: str
    text: str
    numbers: dict[str, float]
    gain: tuple[float, float] | None = None

    def evidence(self) -> str:
        found = ", ".join(f"{name} = {_number(value)}" for name, value in self.numbers.items())
        if self.gain is None:
            return found
        return f"{found}; predicted gain: {self.gain[0]:.2f} to {self.gain[1]:.2f} times as fast"

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "text": self.text,
            "numbers": self.numbers,
            "gain": list(self.gain) if self.gain else None,
        }


@dataclass(frozen=True)
class Rule:
    """`condition` says in the names of its numbers when it speaks; `excluded_by`: rules that, where they
    speak, explain the same better.
    """

    name: str
    condition: str
    look: Callable[[Profile], Finding | None]
    excluded_by: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """What the rule is about."""
        return " ".join((self.look.__doc__ or "").split())


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def findings(profile: Profile) -> list[Finding]:
    """What the rules say, the largest gain first; of two that exclude each other the more exact one."""
    found = {rule.name: finding for rule in RULES if (finding := rule.look(profile)) is not None}
    kept = [
        finding
        for rule in RULES
        if (finding := found.get(rule.name)) and not any(name in found for name in rule.excluded_by)
    ]
    return sorted(kept, key=lambda one: -(one.gain[1] if one.gain else 0.0))


def explain(name: str, profile: Profile) -> str:
    """What a rule looks at, and what it found. Raises KeyError for a rule that there is not."""
    rule = {one.name: one for one in RULES}[name]
    finding = rule.look(profile)
    lines = [f"{rule.name}: {rule.why}", f"speaks if {rule.condition}"]
    if finding is None:
        lines.append("here: it does not")
        return "\n".join(lines)
    lines.append(f"here: {finding.text}")
    lines += [f"  {key} = {_number(value)}" for key, value in finding.numbers.items()]
    if finding.gain:
        lines.append(f"  predicted: {finding.gain[0]:.2f} to {finding.gain[1]:.2f} times as fast")
    speaking = {one.name for one in RULES if one.name in rule.excluded_by and one.look(profile) is not None}
    lines += [f"  not shown among the advice: {other} explains it better" for other in sorted(speaking)]
    return "\n".join(lines)


def _case(profile: Profile, name: str) -> tuple[float, float] | None:
    """The gain of a replay."""
    if profile.what_if is None or name not in profile.what_if.cases:
        return None
    return profile.what_if.gain(name)


def _granularity(profile: Profile) -> Finding | None:
    """At most half of the busy time is useful: bodies are shorter than what the runtime takes for them, which
    is what METG(50 %) says, measured in this very run.
    """
    shares = profile.shares
    grain = shares.granularity_s
    if not grain or not shares.bodies:
        return None
    spent = sum(one.all_overhead_s for one in shares.threads) / shares.bodies
    if grain >= 2 * spent or shares.overhead_s < 0.2 * shares.wall_s * len(shares.threads):
        return None
    factor = 4 * spent / grain
    busy = shares.useful_s + shares.overhead_s
    most = busy / shares.useful_s
    return Finding(
        "fragments-too-small",
        f"Bodies are short beside what the runtime does for each: make them {factor:.0f} times as large, by "
        "larger blocks or several iterations in a body.",
        {"granularity_s": grain, "overhead_per_body_s": spent, "factor": factor},
        (1.0 + 0.25 * (most - 1.0), most),
    )


def _imbalance(profile: Profile) -> Finding | None:
    """One rank has work while others have none."""
    shares = profile.shares
    by_rank: dict[int, float] = {}
    for one in shares.executing:
        by_rank[one.rank] = by_rank.get(one.rank, 0.0) + one.useful_s
    if len(by_rank) < 2:
        return None
    useful = np.array(list(by_rank.values()))
    balance = float(useful.mean() / useful.max()) if useful.max() > 0 else 1.0
    idle = shares.idle_s / max(sum(one.wall_s for one in shares.threads), 1e-300)
    share = float(useful.max()) / max(shares.wall_s * len(shares.executing) / len(by_rank), 1e-300)
    if balance >= 0.85 or idle <= 0.1 or share <= 0.3:
        return None
    rank = list(by_rank)[int(useful.argmax())]
    most = 1 / (1 - share * (1 - balance))
    # No distribution is faster than the longest chain of bodies that wait for each other.
    free = _case(profile, "infinite workers")
    most = min(most, free[1]) if free else most
    return Finding(
        "imbalance",
        f"Rank {rank} has most of the work while others are idle: spread the fragments evenly "
        "(`locator_cyclic`), or let them move with `--balance steal`.",
        {"load_balance": balance, "idle_share": idle, "useful_share_of_busiest": share, "busiest_rank": rank},
        (1.0 + 0.5 * (most - 1.0), most * 1.1),
    )


def _serial_chain(profile: Profile) -> Finding | None:
    """The chain is nearly as long as the run: more ranks cannot help."""
    path, found = profile.path, profile.what_if
    if path is None or found is None or not found.measured_s:
        return None
    chain = path.length_s - path.transfer_s
    share = chain / found.measured_s
    idle = profile.shares.idle_s / max(sum(one.wall_s for one in profile.shares.threads), 1e-300)
    if share <= 0.7 or idle <= 0.3 or len(profile.shares.executing) < 2:
        return None
    number, (count, seconds) = next(iter(path.by_type.items()))
    name = profile.recorded.type_names()[number]
    return Finding(
        "serial-chain",
        f"Fragments that wait for each other take nearly all of the time, most of it {name}: divide that, or "
        "make it faster; more ranks do not help.",
        {"chain_s": chain, "measured_s": found.measured_s, "idle_share": idle, "longest_type_s": seconds,
         "longest_type_fragments": count},
        _case(profile, f"{name} twice as fast"),
    )  # fmt: skip


def _latency(profile: Profile) -> Finding | None:
    """Transfers between ranks are on the critical path."""
    path, found = profile.path, profile.what_if
    if path is None or found is None or not path.length_s or len(profile.recorded.ranks) < 2:
        return None
    share = path.transfer_s / path.length_s
    gain = _case(profile, "zero latency")
    of_run = path.transfer_s / found.measured_s if found.measured_s else 0.0
    if share <= 0.3 or of_run <= 0.15 or gain is None:
        return None
    return Finding(
        "latency-bound",
        "Values and fragments that travel between ranks are what the program waits for: keep what belongs "
        "together on one rank, or have more independent work per rank.",
        {"transfer_s": path.transfer_s, "critical_path_s": path.length_s, "share_of_run": of_run},
        gain,
    )


def _migrations(profile: Profile) -> Finding | None:
    """More than one fragment in twenty went to other ranks twice or more."""
    totals = profile.totals
    often = sum(totals.distribs[2:])
    if not totals.created or often / totals.created <= 0.05:
        return None
    seconds = profile.stages[0].total_s
    return Finding(
        "placement-thrashes",
        "Fragments move from rank to rank: recommend their place where they are created, so that they go "
        "there at once.",
        {"moved_twice_or_more": often, "total_cf": totals.created, "share": often / totals.created,
         "distribution_s": seconds},
    )  # fmt: skip


def _expansion(profile: Profile) -> Finding | None:
    """Threads are idle while fragments are still being created, by one thread that does little else."""
    shares = profile.shares
    if len(shares.executing) < 2:
        return None
    creating = [one.overhead_s["unfolding"] + one.overhead_s["distribution"] for one in shares.threads]
    share = max(creating) / shares.wall_s if shares.wall_s else 0.0
    wall = sum(one.wall_s for one in shares.executing)
    idle = sum(one.idle_s for one in shares.executing) / wall if wall else 0.0
    if share <= 0.4 or idle <= 0.3:
        return None
    at = int(np.argmax(creating))
    seconds = profile.shares.wall_s
    rate = profile.totals.created / seconds if seconds else 0.0
    return Finding(
        "expansion-starves",
        f"Rank {shares.threads[at].rank} cannot create fragments fast enough for the others: divide the "
        "creating loop among ranks, or make fragments larger.",
        {"creating_share": share, "idle_share": idle, "created_per_s": rate},
        (1.0, 1 / max(1 - idle * share, 0.05)),
    )


def _late_order(profile: Profile) -> Finding | None:
    """Nearly all fragments wait while threads are idle: what others need runs too late."""
    totals, shares = profile.totals, profile.shares
    if not totals.created or not shares.threads:
        return None
    waits = totals.waited / totals.created
    idle = shares.idle_s / max(sum(one.wall_s for one in shares.threads), 1e-300)
    if waits <= 0.8 or idle <= 0.2:
        return None
    return Finding(
        "late-inputs",
        "Nearly all fragments wait for values while threads are idle: create first what others wait for, or "
        "let more of the program unfold at once.",
        {"wait_df": totals.waited, "total_cf": totals.created, "wait_share": waits, "idle_share": idle},
        (1.0, 1 / (1 - min(idle, 0.95))),
    )


def _leak(profile: Profile) -> Finding | None:
    """Values stay until the end, more and more of them."""
    found, recorded = profile.values, profile.recorded
    stored = sum(int(one.stored_bytes.sum()) for one in recorded.summaries.values())
    steps = [one.counts.sum(axis=0) for one in recorded.summaries.values()]
    count = int(sum(counts[STEPS.index("store")] for counts in steps))
    if count < 100 or found.live_at_end <= 0.5 * count:
        return None
    return Finding(
        "use-counts-missing",
        "Most values are never released: say how often each is used (`req_count`), or delete them when they "
        "are done with.",
        {"values_written": count, "values_left": found.live_at_end, "bytes_written": stored,
         "bytes_left": found.live_bytes_at_end},
    )  # fmt: skip


def _twice(profile: Profile) -> Finding | None:
    """Values go to one rank more than once."""
    found = profile.values
    away = int((found.transfers > 0).sum())
    if found.fetched_twice < 20 or found.fetched_twice <= 0.2 * away:
        return None
    again = len(found.latency_s) - away
    return Finding(
        "fetched-twice",
        "Values are fetched by one rank several times: run their readers where the value is, or copy it once "
        "into one that lives there.",
        {
            "values_fetched_twice": found.fetched_twice,
            "values_fetched": away,
            "further_fetches": max(again, 0),
        },
    )


def _long_bodies(profile: Profile) -> Finding | None:
    """Requests wait because the rank that has the value is in a long body, between two looks for messages."""
    found, shares = profile.values, profile.shares
    if len(found.answer_s) < 10 or not shares.granularity_s:
        return None
    workers = any(one.thread.startswith("worker") for one in shares.threads)
    runs = profile.recorded.runs
    lengths = runs["end_s"] - runs["begin_s"]
    long_s = float(np.quantile(lengths, 0.9)) if len(lengths) else 0.0
    fast, typical = (float(value) for value in np.quantile(found.answer_s, [0.05, 0.5]))
    idle = shares.idle_s / max(sum(one.wall_s for one in shares.threads), 1e-300)
    if workers or idle <= 0.1 or long_s < 10 * fast or not 0.25 * long_s < typical < 4 * long_s:
        return None
    return Finding(
        "messages-behind-bodies",
        "Requests wait until a long body ends: run bodies on workers of their own (`-t 2`), so that a thread "
        "has messages only.",
        {"request_latency_s": typical, "fastest_request_s": fast, "long_body_s": long_s, "idle_share": idle},
        (1.0, 1 / (1 - min(idle, 0.95))),
    )


def _own_cost(profile: Profile) -> Finding | None:
    """Recording takes more than a twentieth of the busy time."""
    recorded, shares = profile.recorded, profile.shares
    records = int(sum(one.counts.sum() for one in recorded.summaries.values()))
    cost = max((one.record_cost_s for one in recorded.summaries.values()), default=0.0)
    busy = shares.useful_s + shares.overhead_s
    if not busy or records * cost <= 0.05 * busy:
        return None
    return Finding(
        "profile-costs",
        "Recording itself takes a visible part of the time: numbers here are too high by about as much; "
        "`--trace off` leaves it out.",
        {"records": records, "record_cost_s": cost, "share_of_busy": records * cost / busy},
        (1.0, 1 / (1 - min(records * cost / busy, 0.9))),
    )


def _speed(profile: Profile) -> Finding | None:
    """The same type of body takes longer on one rank than on the others."""
    recorded = profile.recorded
    runs = recorded.runs[recorded.runs["fragment"] >= 0]
    if not len(runs) or len(recorded.ranks) < 2:
        return None
    types = recorded.fragments["type"][runs["fragment"]]
    lengths = runs["end_s"] - runs["begin_s"]
    main = int(np.bincount(types, lengths).argmax())
    medians = {}
    for rank in recorded.ranks:
        own = lengths[(types == main) & (runs["rank"] == rank)]
        if len(own) >= 10:
            medians[rank] = float(np.median(own))
    if len(medians) < 2:
        return None
    slow = max(medians, key=lambda rank: medians[rank])
    others = float(np.median([value for rank, value in medians.items() if rank != slow]))
    if not others or medians[slow] <= 1.3 * others:
        return None
    return Finding(
        "rank-is-slower",
        f"Bodies of {recorded.type_names()[main]} take longer on rank {slow} than elsewhere: look at its "
        "machine (clock, memory, other programs), or give it less.",
        {"slow_rank": slow, "median_s": medians[slow], "median_elsewhere_s": others},
        (1.0, medians[slow] / others),
    )


def _oversubscribed(profile: Profile) -> Finding | None:
    """Bodies of one type take from hardly any time to many times as long, on all ranks, as with more threads
    than cores.
    """
    recorded = profile.recorded
    runs = recorded.runs[recorded.runs["fragment"] >= 0]
    if len(runs) < 50 or len(profile.shares.executing) < 2:
        return None
    types = recorded.fragments["type"][runs["fragment"]]
    lengths = runs["end_s"] - runs["begin_s"]
    main = int(np.bincount(types, lengths).argmax())
    own = lengths[types == main]
    if len(own) < 50:
        return None
    least, most = (float(value) for value in np.quantile(own, [0.5, 0.95]))
    if most < 0.002 or most <= 5 * least:
        return None
    return Finding(
        "oversubscribed",
        f"Bodies of {recorded.type_names()[main]} are interrupted: there may be more threads than cores; "
        "start fewer ranks or threads.",
        {"median_s": least, "quantile_95_s": most},
        (1.0, float(own.mean()) / least if least else 1.0),
    )


def _messages(profile: Profile) -> Finding | None:
    """Threads are busy with messages rather than with bodies."""
    shares = profile.shares
    if len(profile.recorded.ranks) < 2:
        return None
    busy = shares.useful_s + shares.overhead_s
    spent = sum(one.overhead_s["messages"] for one in shares.threads)
    if not busy or spent / busy <= 0.5:
        return None
    steps = [one.counts.sum(axis=0) for one in profile.recorded.summaries.values()]
    sent = int(
        sum(counts[STEPS.index(name)] for counts in steps for name in ("forward", "request", "deliver"))
    )
    if sent < 100:
        return None
    return Finding(
        "small-messages",
        "More than half of the busy time goes into messages: fewer and larger values, or neighbours on one "
        "rank.",
        {"messages_s": spent, "busy_s": busy, "share": spent / busy, "messages": sent},
        (1.0, busy / (busy - spent)),
    )


def _first_half(profile: Profile) -> Finding | None:
    """Ranks have nothing to do before the program has spread."""
    if len(profile.shares.executing) < 2 or not profile.recorded.summaries:
        return None
    edges, seconds = over_time(profile.recorded, 100)
    whole = np.maximum(seconds.sum(axis=1), 1e-300)
    useful = seconds[:, ACTIVITIES.index("useful")] / whole
    if useful.max() < 0.3:
        return None
    begun = int(np.flatnonzero(useful > 0.5 * useful.max())[0])
    share = begun / len(useful)
    if share <= 0.2:
        return None
    return Finding(
        "late-start",
        "The first part of the run has hardly any useful work: let the program spread over the ranks sooner.",
        {
            "first_useful_s": float(edges[begun] - edges[0]),
            "wall_s": float(edges[-1] - edges[0]),
            "share": share,
        },
        (1.0 + 0.5 * (1 / (1 - share) - 1), 1 / (1 - share)),
    )  # fmt: skip


RULES = (
    Rule("profile-costs", "records * record_cost_s > 5 % of busy time", _own_cost),
    Rule(
        "fragments-too-small",
        "granularity_s < 2 * overhead_per_body_s and overhead > 20 % of thread time",
        _granularity,
        ("profile-costs", "small-messages"),
    ),
    Rule("rank-is-slower", "median_s > 1.3 * median_elsewhere_s", _speed, ("oversubscribed",)),
    Rule("oversubscribed", "quantile_95_s > 5 * median_s and > 2 ms", _oversubscribed),
    Rule(
        "imbalance",
        "load_balance < 0.85, idle_share > 0.1 and useful_share_of_busiest > 0.3",
        _imbalance,
        ("rank-is-slower", "serial-chain"),
    ),
    Rule("serial-chain", "chain_s > 0.7 * measured_s and idle_share > 0.3", _serial_chain),
    Rule(
        "latency-bound",
        "transfer_s > 0.3 * critical_path_s and > 0.15 of the run",
        _latency,
        ("messages-behind-bodies",),
    ),
    Rule(
        "messages-behind-bodies",
        "request_latency_s within 1/4 and 4 of long_body_s, long_body_s > 10 * fastest_request_s, "
        "idle_share > 0.1, and no worker threads",
        _long_bodies,
    ),
    Rule("placement-thrashes", "moved_twice_or_more > 5 % of total_cf", _migrations),
    Rule(
        "expansion-starves", "creating_share > 0.4 and idle_share > 0.3", _expansion, ("fragments-too-small",)
    ),
    Rule(
        "late-start",
        "less than half of the most useful share for more than 20 % of the run",
        _first_half,
        ("expansion-starves", "serial-chain", "imbalance"),
    ),
    Rule(
        "late-inputs",
        "wait_share > 0.8 and idle_share > 0.2",
        _late_order,
        ("serial-chain", "latency-bound", "messages-behind-bodies", "imbalance", "expansion-starves"),
    ),
    Rule("small-messages", "messages_s > 0.5 * busy_s and messages >= 100", _messages),
    Rule("use-counts-missing", "values_left > 0.5 * values_written, of 100 or more", _leak),
    Rule("fetched-twice", "values_fetched_twice >= 20 and > 20 % of values_fetched", _twice),
)
