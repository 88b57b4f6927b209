"""Configs, graphs and data files as people and accidents mangle them.

A case starts from files that are right and applies a few changes: keys that are gone,
misspelt or of another type, numbers that are too large, too small or none, lines that
are doubled, swapped or cut, bytes that have changed.

Chance is that of Python's own module. Hypothesis, even derandomized, also draws numbers
that stand in the modules imported so far: its cases depend on which tests ran before.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import tomli_w
from scipy.sparse import csr_array, save_npz

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers import REGULARIZERS

BASE: dict[str, Any] = {
    "run": {"name": "try", "seed": 1, "dtype": "float64"},
    "network": {"topology": "ring", "weights": "laplacian", "exchange": "isend"},
    "mixing": {"method": "chebyshev", "rounds": 2},
    "data": {"source": "gaussian", "rows": 24, "columns": 3, "labels": "linear"},
    "problem": {"kind": "ridge", "l2": 0.1},
    "regularizer": {"kind": "l1", "strength": 0.01},
    "stop": {"steps": 2, "gradient_mapping": 1e-9, "wall_seconds": 5.0},
    "evaluate": {"every": 1, "reference": False},
    "checkpoint": {"steps": 1, "minutes": 1.0},
    "algorithm": [{"name": "nids", "label": "a", "step_size": 0.1}],
}

VALUES: list[list[Any]] = [
    [
        0,
        1,
        2,
        3,
        7,
        -1,
        24,
        0.5,
        1e-300,
        1e300,
        float("inf"),
        float("nan"),
        10**18,
        10**30,
        10**400,
    ],
    ["", "auto", "theory", "ring", "nan", "os:system", "../x", "é", "0"],
    [False, True],
    [[]],
    [[1.0, 2.0]],
    [{}],
    [{"a": 1}],
]

CHOICES = {
    ("problem", "kind"): list(PROBLEMS),
    ("regularizer", "kind"): list(REGULARIZERS),
    ("network", "topology"): list(TOPOLOGIES),
    ("network", "weights"): list(WEIGHTS),
    ("mixing", "method"): ["chebyshev", "fastmix", "fastmix-optimal", "plain"],
    ("data", "scale"): ["none", "minmax", "standard", "unit"],
    ("data", "partition"): ["contiguous", "shuffled", "by-label"],
    ("data", "layout"): ["auto", "dense", "sparse"],
    ("run", "dtype"): ["float64", "float32"],
    ("algorithm", "name"): list(ALGORITHMS),
    ("data", "labels"): ["linear", "none"],
}


@dataclass(frozen=True)
class Case:
    """What lies in a folder: config.toml, and the files that it names."""

    kind: str
    files: dict[str, bytes]


def case_of(seed: int, agents: int) -> Case:
    """Return the case of a seed for a job of so many agents."""
    chance = Random(seed)
    kind = chance.choice(["config", "config", "data", "graph"])
    values, files = copy.deepcopy(BASE), {}
    if kind == "data":
        name, content = _data(chance)
        files[name] = _mangled(chance, content)
        values["data"] = {"source": name.split(".")[1], "path": name}
        if values["data"]["source"] == "csv":
            values["data"]["label_column"] = chance.choice([-1, 0, 2, 9])
        if values["data"]["source"] == "npy":
            values["problem"] = {"kind": "shift-invert-pca"}
    elif kind == "graph":
        key, name, content = _graph(chance, agents)
        files[name] = _mangled(chance, content)
        values["network"] = {key: name}
    for _ in range(chance.randint(0, 3 if kind == "config" else 1)):
        _change(chance, values)
    text = tomli_w.dumps(values).encode()
    if kind == "config" and chance.randint(0, 5) == 0:
        text = _mangled(chance, text)
    files["config.toml"] = text
    return Case(kind, files)


def _change(chance: Random, values: dict[str, Any]) -> None:
    """Change one thing of a config, often into something that may be right."""
    section = chance.choice(sorted(values))
    target = values[section]
    if isinstance(target, list):
        if not target:
            return
        target = target[0]
    if not isinstance(target, dict):
        return
    choice = chance.randint(0, 9)
    known = [key for place, key in CHOICES if place == section]
    if choice < 5 and known:
        key = chance.choice(known)
        target[key] = chance.choice(CHOICES[section, key])
    elif choice < 7 and target:
        target[chance.choice(sorted(target))] = copy.deepcopy(
            chance.choice(chance.choice(VALUES))
        )
    elif choice == 7 and target:
        del target[chance.choice(sorted(target))]
    elif choice == 8 and target:
        key = chance.choice(sorted(target))
        target[key + chance.choice(["s", "_", "x"])] = target.pop(key)
    else:
        values[section] = copy.deepcopy(chance.choice(chance.choice(VALUES)))


def _mangled(chance: Random, content: bytes) -> bytes:
    """Change bytes or lines; one time in four nothing."""
    data = bytearray(content)
    for _ in range(chance.randint(0, 3)):
        if not data:
            break
        place = chance.randrange(len(data))
        way = chance.randint(0, 5)
        if way == 0:
            data[place] ^= 1 << chance.randint(0, 7)
        elif way == 1:
            del data[place : place + chance.randint(1, 30)]
        elif way == 2:
            data[place:place] = chance.choice(
                [b"nan", b"\0", b" ", b",", b":", b"\xff", b"1e999", b"-"]
            )
        elif way == 3:
            data = data[:place]
        else:
            lines = bytes(data).splitlines(keepends=True)
            line = chance.randrange(len(lines))
            if way == 4:
                lines.insert(line, chance.choice(lines))
            else:
                del lines[line]
            data = bytearray(b"".join(lines))
    return bytes(data)


def _data(chance: Random) -> tuple[str, bytes]:
    """A data file of 24 rows that is right."""
    rng = np.random.default_rng(3)
    A = np.round(rng.normal(size=(24, 3)), 3)
    y = np.sign(A[:, 0]).astype(int)
    source = chance.choice(["npy", "csv", "libsvm"])
    if source == "npy":
        file = io.BytesIO()
        np.save(file, A)
        content = file.getvalue()
    elif source == "csv":
        rows = [
            ",".join(map(str, [*row, label])) for row, label in zip(A, y, strict=True)
        ]
        content = "\n".join(rows).encode() + b"\n"
    else:
        rows = [
            f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row))
            for row, label in zip(A, y, strict=True)
        ]
        content = "\n".join(rows).encode() + b"\n"
    packing = chance.choice(["", "", ".gz", ".bz2"])
    if packing == ".gz":
        content = gzip.compress(content, mtime=0)
    elif packing == ".bz2":
        content = bz2.compress(content)
    return f"rows.{source}{packing}", content


def _graph(chance: Random, agents: int) -> tuple[str, str, bytes]:
    """A graph or a matrix that is right: key of [network], file and content."""
    edges = [(i, (i + 1) % agents) for i in range(agents if agents > 2 else agents - 1)]
    form = chance.choice(["edgelist", "graphml", "npy", "npz", "txt"])
    if form == "edgelist":
        return "file", "g.edgelist", "".join(f"{i} {j}\n" for i, j in edges).encode()
    if form == "graphml":
        encoding = chance.choice(["utf-8", "utf-8", "latin1", "utf-88", "big5"])
        lines = [f'<?xml version="1.0" encoding="{encoding}"?>']
        lines += ['<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
        lines += ['<graph edgedefault="undirected">']
        lines += [f'<node id="{i}"/>' for i in range(agents)]
        lines += [f'<edge source="{i}" target="{j}"/>' for i, j in edges]
        lines += ["</graph>", "</graphml>"]
        return "file", "g.graphml", "\n".join(lines).encode()
    W = np.eye(agents)
    for i, j in edges:
        W[i, j] = W[j, i] = 0.25
        W[i, i] -= 0.25
        W[j, j] -= 0.25
    file = io.BytesIO()
    if form == "npy":
        np.save(file, W)
    elif form == "npz":
        save_npz(file, csr_array(W))
    else:
        np.savetxt(file, W)
    return "weights_file", f"W.{form}", file.getvalue()
