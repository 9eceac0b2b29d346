# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench network`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.bench import JsonFile, publish
from tailrace.commands.options import finite
from tailrace.console import CommandError
from tailrace_bench.choices import known_words

SIZES = (0, 1, 8, 64, 512, 4096, 1 << 15, 1 << 18, 1 << 20, 1 << 22)


def network(
    size: Annotated[
        list[int] | None,
        typer.Option(metavar="BYTES", min=0, max=1 << 30, help="Of a message (default: 10 from 0 to 4 MiB)."),
    ] = None,
    windows: Annotated[int, typer.Option(metavar="N", min=6, help="Windows of each size.")] = 50,
    messages: Annotated[int, typer.Option(metavar="N", min=2, help="Messages of a window.")] = 64,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="pair|overlap|protocol|group|matrix|levels|by-hand",
            help="What to measure (default: the first three; with -n also of all ranks: group, matrix).",
        ),
    ] = None,
    adapter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Open and measure only these, such as mpi-blocking (default: all)."
        ),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option("-n", "--ranks", metavar="N", min=2, help="Ranks of the tests of all ranks.")
    ] = None,
    cycled: Annotated[
        bool, typer.Option("--cycled", help="Send each message from another place of 64 MiB.")
    ] = False,
    touched: Annotated[bool, typer.Option("--touched", help="Read all bytes of what was received.")] = False,
    mpi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="openmpi|mpich|DIR", help="The build with it, or these programs; several in turns."
        ),
    ] = None,
    link_delay: Annotated[
        list[float] | None,
        typer.Option(
            metavar="US",
            min=0,
            max=1e6,
            callback=finite,
            help="Also two namespaces with a link that takes so long (root).",
        ),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Also these two hosts, by ssh; give it twice.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="netpipe|NAME=COMMAND", help="Beside it: NetPIPE, or what prints bytes and microseconds."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="The page to make.")] = None,
    json: JsonFile = None,
) -> None:
    """Messages between ranks through each adapter: one way, both ways, in windows, behind work, in rings;
    what a layer costs over MPI, latency and bandwidth by sizes; two MPIs and two places side by side.
    """
    from tailrace.bench.document import check_writable
    from tailrace_bench import network as benchmark
    from tailrace_bench import network_page, network_tables

    usual = benchmark.USUAL_TESTS + (benchmark.OF_ALL_RANKS if ranks else ())
    request = benchmark.Request(
        tuple(size or SIZES),
        windows,
        messages,
        peers=tuple(peer or ()),
        tests=known_words("--test", test, benchmark.TESTS, usual),
        ranks=ranks or 2,
        adapters=known_words("--adapter", adapter, benchmark.ADAPTERS, ()),
        cycled=cycled,
        touched=touched,
        mpis=tuple(mpi or ()),
        delays_us=tuple(link_delay or ()),
        hosts=two_hosts(host),
    )
    check_writable(html, "--html")

    def show(document, console) -> None:
        network_tables.print_document(document, console)
        if html is not None:
            network_page.write_page(document, html)
            typer.echo(f"page: {html}")

    publish(lambda: benchmark.measure(request), show, json)


def two_hosts(given: list[str] | None) -> tuple[str, ...]:
    if given and len(given) != 2:
        raise CommandError(f"--host: {len(given)} given; messages travel between two. Fix: give it twice.")
    return tuple(given or ())
