"""Comparing a config with that of an earlier run, which it is to continue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.write import toml_values

FREE = ("stop", "checkpoint")
"""Sections that may change: a longer budget, another cadence."""

FREE_KEYS = {
    # The engine that runs is compared, not the word ("auto") that asks for it.
    "run": ("name", "timeout", "engine"),
    # Files may have moved: their content is compared instead.
    "network": ("file", "weights_file", "placement"),
    "data": ("path", "labels"),
    "algorithm": ("steps",),
}

Values = dict[str, Any]


def differences(asked: Config, resolved: Config, now: Config) -> list[str]:
    """Name what differs from an earlier run, and may not.

    Parameters
    ----------
    asked, resolved
        The earlier run's config with its words, and with the numbers that they became:
        either may be asked for again.
    now
        What is asked for now.
    """
    words, numbers, new = map(toml_values, (asked, resolved, now))
    labels = [[one["label"] for one in each["algorithm"]] for each in (words, new)]
    if labels[0] != labels[1]:
        return [
            f"the algorithms are {', '.join(labels[1])}, and were "
            f"{', '.join(labels[0])}"
        ]
    differences = []
    for name in dict.fromkeys([*words, *new]):
        if name in FREE:
            continue
        free = FREE_KEYS.get(name, ())
        if name == "algorithm":
            sections = zip(words[name], numbers[name], new[name], strict=True)
            for old, became, one in sections:
                where = f"[[algorithm]] {one['label']}:"
                differences += _differing(where, free, old, became, one)
        else:
            three = (each.get(name, {}) for each in (words, numbers, new))
            differences += _differing(f"[{name}]", free, *three)
    return differences


def _differing(
    where: str, free: tuple[str, ...], words: Values, numbers: Values, now: Values
) -> list[str]:
    return [
        f"{where} {key} is {now.get(key)!r}, and was {words.get(key)!r}"
        for key in dict.fromkeys([*words, *now])
        if key not in free and now.get(key) not in (words.get(key), numbers.get(key))
    ]


def with_numbers(now: Config, resolved: Config) -> Config:
    """Put the numbers that words became in an earlier run in the words' place.

    They may depend on what is free to change, as the theory's do on the budget.
    """
    engine = resolved.run.engine if now.run.engine == "auto" else now.run.engine
    pairs = zip(now.algorithm, resolved.algorithm, strict=True)
    return replace(
        now,
        run=replace(now.run, engine=engine),
        cost=resolved.cost,
        algorithm=tuple(
            replace(
                one,
                method=old.method,
                evaluate_every=old.evaluate_every,
                guard=old.guard,
            )
            for one, old in pairs
        ),
    )
