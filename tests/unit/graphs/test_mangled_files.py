"""Thousands of mangled graph and matrix files: taken, or refused in a sentence."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.graphs.network import Network

AGENTS = 5
EACH = 500
"""Mangled copies of each file."""

RING = nx.cycle_graph(AGENTS)
W = np.eye(AGENTS) - nx.laplacian_matrix(RING).toarray() / 5

INSERTED = [b"\0", b"\xff", b"\x1b", b"-", b"nan", b"1e999", b" ", b"<", b"9" * 5000]


def numpy_file(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def scipy_file(matrix: object, compressed: bool) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, matrix, compressed=compressed)
    return file.getvalue()


def text_file(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savetxt(file, array)
    return file.getvalue()


def graphml_file() -> bytes:
    file = io.BytesIO()
    nx.write_graphml(RING, file)
    return file.getvalue()


FILES = {
    "packed.npz": scipy_file(sparse.csr_array(W), True),
    "csr.npz": scipy_file(sparse.csr_array(W), False),
    "csc.npz": scipy_file(sparse.csc_matrix(W), False),
    "coo.npz": scipy_file(sparse.coo_array(W), False),
    "W.npy": numpy_file(W),
    "fortran.npy": numpy_file(np.asfortranarray(W)),
    "W.txt": text_file(W),
    "ring.graphml": graphml_file(),
    "ring.edgelist": b"".join(b"%d %d\n" % edge for edge in RING.edges()),
}


def mangled(content: bytes, chance: np.random.Generator) -> bytes:
    """Change, insert, take out or cut off some bytes."""
    data = bytearray(content)
    for _ in range(chance.integers(1, 4)):
        at, way = int(chance.integers(len(data) + 1)), chance.integers(8)
        if way < 4:
            data[at : at + 1] = bytes([chance.integers(256)])
        elif way == 4:
            del data[at : at + int(chance.integers(1, 30))]
        elif way == 5:
            data[at:at] = INSERTED[chance.integers(len(INSERTED))]
        elif way == 6:
            data[at:at] = data[at : at + int(chance.integers(1, 200))]
        else:
            del data[at:]
    return bytes(data)


def outcome(path: Path, chance: np.random.Generator) -> Network | str:
    """The network of a file, or what is said of it."""
    graph = path.suffix in (".graphml", ".edgelist")
    given = {"topology": path} if graph else {"weights": path}
    try:
        return build_network(AGENTS, chance, **given)
    except UserError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required additional")
@pytest.mark.parametrize("name", FILES)
def test_a_mangled_file_is_taken_or_refused_in_a_sentence(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    chance = np.random.default_rng([*name.encode()])
    taken = 0
    for number in range(EACH):
        path.write_bytes(mangled(FILES[name], chance) if number else FILES[name])
        found = outcome(path, chance)
        if isinstance(found, str):
            assert found.startswith(f"{path}: ")
            assert len(found) < 1000
        else:
            taken += 1
            assert found.agents == AGENTS
            assert np.isfinite(found.W.toarray()).all()
    assert 0 < taken < EACH
