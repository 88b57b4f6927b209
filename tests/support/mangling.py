"""Configs, graphs and data files as people and accidents mangle them.

A case starts from files that are right and applies a few changes: keys that are gone,
misspelt or of another type, numbers that are too large, too small or none, lines that
are doubled, swapped or cut, bytes that have changed.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import tomli_w
from hypothesis import strategies as st

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

VALUES = st.one_of(
    st.sampled_from(
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
        ]
    ),
    st.sampled_from(
        ["", "auto", "theory", "ring", "nan", "os:system", "../x", "é", "0"]
    ),
    st.booleans(),
    st.just([]),
    st.just([1.0, 2.0]),
    st.just({}),
    st.just({"a": 1}),
)

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


@st.composite
def cases(draw: st.DrawFn, agents: int) -> Case:
    """Draw a case for a job of so many agents."""
    kind = draw(st.sampled_from(["config", "config", "data", "graph"]))
    values, files = copy.deepcopy(BASE), {}
    if kind == "data":
        name, content = _data(draw)
        files[name] = _mangled(draw, content)
        values["data"] = {"source": name.split(".")[1], "path": name}
        if values["data"]["source"] == "csv":
            values["data"]["label_column"] = draw(st.sampled_from([-1, 0, 2, 9]))
        if values["data"]["source"] == "npy":
            values["problem"] = {"kind": "shift-invert-pca"}
    elif kind == "graph":
        key, name, content = _graph(draw, agents)
        files[name] = _mangled(draw, content)
        values["network"] = {key: name}
    for _ in range(draw(st.integers(0, 3 if kind == "config" else 1))):
        _change(draw, values)
    text = tomli_w.dumps(values).encode()
    if kind == "config" and draw(st.integers(0, 5)) == 0:
        text = _mangled(draw, text)
    files["config.toml"] = text
    return Case(kind, files)


def _change(draw: st.DrawFn, values: dict[str, Any]) -> None:
    """Change one thing of a config, often into something that may be right."""
    section = draw(st.sampled_from(sorted(values)))
    target = values[section]
    if isinstance(target, list):
        if not target:
            return
        target = target[0]
    if not isinstance(target, dict):
        return
    choice = draw(st.integers(0, 9))
    known = [key for place, key in CHOICES if place == section]
    if choice < 5 and known:
        key = draw(st.sampled_from(known))
        target[key] = draw(st.sampled_from(CHOICES[section, key]))
    elif choice < 7 and target:
        target[draw(st.sampled_from(sorted(target)))] = copy.deepcopy(draw(VALUES))
    elif choice == 7 and target:
        del target[draw(st.sampled_from(sorted(target)))]
    elif choice == 8 and target:
        key = draw(st.sampled_from(sorted(target)))
        target[key + draw(st.sampled_from(["s", "_", "x"]))] = target.pop(key)
    else:
        values[section] = copy.deepcopy(draw(VALUES))


def _mangled(draw: st.DrawFn, content: bytes) -> bytes:
    """Change bytes or lines; one time in four nothing."""
    data = bytearray(content)
    for _ in range(draw(st.integers(0, 3))):
        if not data:
            break
        place = draw(st.integers(0, len(data) - 1))
        way = draw(st.integers(0, 5))
        if way == 0:
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif way == 1:
            del data[place : place + draw(st.integers(1, 30))]
        elif way == 2:
            data[place:place] = draw(
                st.sampled_from(
                    [b"nan", b"\0", b" ", b",", b":", b"\xff", b"1e999", b"-"]
                )
            )
        elif way == 3:
            data = data[:place]
        else:
            lines = bytes(data).splitlines(keepends=True)
            line = draw(st.integers(0, len(lines) - 1))
            if way == 4:
                lines.insert(line, draw(st.sampled_from(lines)))
            else:
                del lines[line]
            data = bytearray(b"".join(lines))
    return bytes(data)


def _data(draw: st.DrawFn) -> tuple[str, bytes]:
    """A data file of 24 rows that is right."""
    rng = np.random.default_rng(3)
    A = np.round(rng.normal(size=(24, 3)), 3)
    y = np.sign(A[:, 0]).astype(int)
    source = draw(st.sampled_from(["npy", "csv", "libsvm"]))
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
    packing = draw(st.sampled_from(["", "", ".gz", ".bz2"]))
    if packing == ".gz":
        content = gzip.compress(content, mtime=0)
    elif packing == ".bz2":
        content = bz2.compress(content)
    return f"rows.{source}{packing}", content


def _graph(draw: st.DrawFn, agents: int) -> tuple[str, str, bytes]:
    """A graph or a matrix that is right: key of [network], file and content."""
    edges = [(i, (i + 1) % agents) for i in range(agents if agents > 2 else agents - 1)]
    form = draw(st.sampled_from(["edgelist", "graphml", "npy", "txt"]))
    if form == "edgelist":
        return "file", "g.edgelist", "".join(f"{i} {j}\n" for i, j in edges).encode()
    if form == "graphml":
        lines = ['<?xml version="1.0" encoding="utf-8"?>']
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
    else:
        np.savetxt(file, W)
    return "weights_file", f"W.{form}", file.getvalue()
