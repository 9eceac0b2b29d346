# SPDX-License-Identifier: BSD-3-Clause
"""The rules: name, what it is about, when it speaks; the gain at least, as expected and at most; what to
change, and what the gain is of. All but texts are expressions over the numbers of `facts.py`. A gain that
a replay says is one only if it is more than the replay's own error, and than a tenth.
"""

_REAL = "replayed_s > 1.1 * (1 + replay_error) * {0}"
_FEWER = "(1 - 2 * bodies / messages)"  # the share of the messages that larger values would save


def _gain(expected: str, most: str) -> tuple[str, str, str]:
    """At least half of what is expected."""
    return f"1 + ({expected} - 1) / 2", expected, most


def _replayed(changed: str, most: str = "") -> tuple[str, str, str]:
    """A replay is as good as that of the run as it was."""
    gain = f"replayed_s / {changed}"
    return f"{gain} / (1 + replay_error)", gain, most or f"{gain} * (1 + replay_error)"


TABLE = (
    (
        "profile-costs",
        "Recording itself takes a visible part of the time.",
        "recording_s > 0.05 * busy_s",
        *_gain("busy_s / (busy_s - recording_s)", "busy_s / max(busy_s - 2 * recording_s, busy_s / 10)"),
        "Recording itself takes a visible part of the time: numbers here are too high by about as much; "
        "`--trace off` leaves it out.",
    ),
    (
        "fragments-too-small",
        "At most half of the busy time is useful: bodies are shorter than what the runtime takes for them, "
        "which is what METG(50 %) says, measured in this very run. Larger ones, with four times that, would "
        "leave 80 % useful. Of what the shortest body takes, up to half may be its call.",
        "granularity_s < 2 * runtime_per_body_s and runtime_share > 0.2",
        *_gain("busy_s / (1.25 * useful_s)", "busy_s / (useful_s - bodies * body_least_s / 2)"),
        "Bodies are short beside what the runtime does for each: make them so much larger that they take "
        "four times that, by larger blocks or several iterations in a body.",
    ),
    (
        "rank-is-slower",
        "The same type of body takes longer on one rank than on the others, and others wait for it.",
        f"median_s > 1.3 * median_elsewhere_s and {_REAL.format('at_same_speed_s')}",
        *_gain(
            "replayed_s * (ranks - 1 + median_elsewhere_s / median_s) * executing_threads / ranks"
            " / work_at_same_speed_s",
            "replayed_s / at_same_speed_s * (1 + replay_error)",
        ),
        "Bodies of {main_type} take longer on rank {slow_rank} than elsewhere: look at its machine (clock, "
        "memory, other programs), or give it as much less.",
    ),
    (
        "oversubscribed",
        "Many bodies of one type take many times as long as most, as with more threads than cores.",
        "bodies_of_main_type >= 50 and executing_threads > 1 and body_95_s > 5 * body_median_s "
        "and body_95_s > 0.002",
        *_gain("body_mean_s / body_median_s", "1.25 * body_mean_s / body_median_s"),
        "Bodies of {main_type} are interrupted: there may be more threads than cores; start fewer ranks or "
        "threads.",
        "body",
    ),
    (
        "imbalance",
        "One rank has work while others have none.",
        "load_balance < 0.85 and idle_share > 0.1 and useful_share_of_busiest > 0.3",
        *_gain(
            "1 / max(1 - useful_share_of_busiest * (1 - load_balance), with_any_workers_s / replayed_s)",
            "1.1 / max(1 - useful_share_of_busiest * (1 - load_balance), with_any_workers_s / replayed_s)",
        ),
        "Rank {busiest_rank} has most of the work while others are idle: spread the fragments evenly "
        "(`locator_cyclic`), or let them move with `--balance steal`.",
    ),
    (
        "serial-chain",
        "Fragments that wait for each other take nearly as long as the run: more ranks cannot help.",
        "executing_threads > 1 and chain_s > 0.7 * measured_s and idle_share > 0.3 "
        f"and {_REAL.format('with_longest_type_faster_s')}",
        *_replayed("with_longest_type_faster_s"),
        "Fragments that wait for each other take nearly all of the time, most of it {longest_type}: divide "
        "that, or make it faster; more ranks do not help.",
    ),
    (
        "latency-bound",
        "Values and fragments that travel between ranks are what the program waits for. Half of it may be "
        "hidden behind other work; on one rank there is none, and there are no messages.",
        f"ranks > 1 and idle_share > 0.2 and {_REAL.format('without_latency_s')}",
        *_gain(
            "max((1 + replayed_s / without_latency_s) / 2,"
            " replayed_s / max(without_latency_s, busy_s * ranks / executing_threads))",
            "replayed_s"
            " / min(without_latency_s, max(chain_s, (busy_s - messages_s) * ranks / executing_threads))"
            " * (1 + replay_error)",
        ),
        "Values and fragments that travel between ranks are what the program waits for: keep what belongs "
        "together on one rank, or have more independent work per rank.",
    ),
    (
        "messages-behind-bodies",
        "Requests wait because the rank that has the value is in a body, and looks for messages between two.",
        f"behind_share > 0.5 and idle_share > 0.1 and {_REAL.format('answered_at_once_s')}",
        *_replayed("answered_at_once_s", "replayed_s / answered_by_workers_s * (1 + replay_error)"),
        "Requests wait until a body ends: run bodies on workers of their own (`-t 2`), so that a thread has "
        "messages only.",
    ),
    (
        "placement-thrashes",
        "More than one fragment in twenty went to other ranks twice or more. By chance it may be a quarter "
        "more, another time.",
        "moved_twice_or_more > 0.05 * created",
        *_gain("moves / moved", "1 + 1.25 * (moves / moved - 1)"),
        "Fragments move from rank to rank: recommend their place where they are created, so that they go "
        "there at once.",
        "hops",
    ),
    (
        "expansion-starves",
        "One rank creates nearly all fragments, which takes it most of the time, and others are idle.",
        "ranks > 1 and created_share > 0.7 and creating_s > 0.5 * wall_s and idle_elsewhere_share > 0.3",
        *_gain("wall_s / (busy_s / ranks)", "wall_s / ((busy_s - messages_s) / ranks)"),
        "Rank {creating_rank} cannot create fragments fast enough for the others: divide the creating loop "
        "among ranks, or make fragments larger.",
    ),
    (
        "late-start",
        "Most of the idle time is before the program has spread over the ranks.",
        "start_s > 0.2 * wall_s and idle_in_start_share > 0.5",
        *_gain(
            "wall_s / (wall_s - start_s + useful_in_start_s / executing_threads)",
            "wall_s / (wall_s - start_s)",
        ),
        "The first part of the run has hardly any useful work: let the program spread over the ranks sooner.",
    ),
    (
        "late-inputs",
        "Threads run other bodies before those that others wait for. No order is faster than the busiest "
        "thread, and than any number of workers.",
        f"idle_share > 0.2 and {_REAL.format('in_best_order_s')}",
        *_gain(
            "replayed_s / in_best_order_s",
            "1 / max(with_any_workers_s / replayed_s, busy_of_busiest_s / wall_s) * (1 + replay_error)",
        ),
        "Threads are idle as what they wait for runs late: create first what others wait for.",
    ),
    (
        "small-messages",
        "Bodies have many messages each, which take more than a quarter of the busy time. A request and its "
        "answer for each would do.",
        f"ranks > 1 and messages_s * {_FEWER} > 0.25 * busy_s",
        *_gain(
            f"wall_s / (wall_s - messages_of_busiest_s * {_FEWER})",
            f"wall_s / (busy_of_busiest_s - (messages_of_busiest_s + values_of_busiest_s) * {_FEWER})",
        ),
        "Much of the busy time goes into messages, {messages} of them for {bodies} bodies: fewer and larger "
        "values, or neighbours on one rank.",
    ),
    (
        "use-counts-missing",
        "Values stay until the end, more and more of them.",
        "values_written >= 100 and values_left > 0.5 * values_written "
        "and peak_bytes > 1.5 * peak_if_released_bytes",
        *_gain("peak_bytes / peak_if_released_bytes", "peak_bytes / peak_if_released_bytes"),
        "Most values are never released: say how often each is used (`req_count`), or delete them when they "
        "are done with.",
        "bytes",
    ),
    (
        "fetched-twice",
        "Values go to one rank more than once. Where their readers are with them, none goes at all.",
        "further_fetches >= 20 and further_fetches > 0.2 * fetches",
        *_gain("fetches / (fetches - further_fetches)", "fetches"),
        "Values are fetched by one rank several times: run their readers where the value is, or copy it once "
        "into one that lives there.",
        "transfers",
    ),
)  # fmt: skip

# Where these speak, they are the cause, and what the rule sees is what follows from it.
EXPLAINED_BY = {
    "profile-costs": ("fragments-too-small", "small-messages", "expansion-starves", "latency-bound"),
    "fragments-too-small": ("small-messages", "expansion-starves", "latency-bound"),
    "rank-is-slower": ("oversubscribed",),
    "imbalance": ("rank-is-slower", "serial-chain", "late-start", "expansion-starves", "late-inputs"),
    "latency-bound": ("messages-behind-bodies", "expansion-starves", "late-inputs", "small-messages"),
    "late-start": ("expansion-starves", "serial-chain"),
    "late-inputs": ("serial-chain", "messages-behind-bodies", "rank-is-slower", "small-messages"),
    "small-messages": ("fetched-twice", "expansion-starves", "placement-thrashes"),
    "messages-behind-bodies": ("late-start",),
}
