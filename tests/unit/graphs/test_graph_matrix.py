from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.given_graph import support
from pmgt_mpi.graphs.given_matrix import (
    as_matrix,
    check_edges,
    checked_spectrum,
    checked_symmetric,
    read_matrix,
)

W3 = np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])


def refusal(path: Path, m: int = 3) -> str:
    with pytest.raises(UserError) as error:
        read_matrix(path, m)
    return str(error.value)


def matrix(given: object) -> sparse.csr_array:
    return as_matrix(given, len(np.asarray(given)), "W")


def test_every_format_gives_the_same_sparse_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "W.npy", W3)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(W3))
    sparse.save_npz(tmp_path / "W.npz", sparse.csc_array(W3))
    sparse.save_npz(tmp_path / "old.npz", sparse.coo_matrix(W3))
    np.savetxt(tmp_path / "W.txt", W3, header="three agents")
    np.savetxt(tmp_path / "W.csv", W3, delimiter=", ")
    for path in tmp_path.iterdir():
        W = read_matrix(path, 3)
        assert isinstance(W, sparse.csr_array)
        assert W.dtype == np.float64
        assert W.nnz == 7
        np.testing.assert_array_equal(W.toarray(), W3)


def test_numbers_written_by_numpy_come_back_bit_for_bit(tmp_path: Path) -> None:
    A = np.random.default_rng(0).standard_normal((20, 20))
    np.savetxt(tmp_path / "A.csv", A, delimiter=",")
    np.testing.assert_array_equal(read_matrix(tmp_path / "A.csv", 20).toarray(), A)


@pytest.mark.parametrize(
    "given", [W3, W3.tolist(), sparse.coo_matrix(W3), np.asmatrix(W3)]
)
def test_python_matrices_of_any_kind_are_taken(given: object) -> None:
    np.testing.assert_array_equal(as_matrix(given, 3, "W").toarray(), W3)
    assert matrix(np.eye(2, dtype=np.int32)).dtype == np.float64


def test_stored_zeros_and_doubles_are_taken_from_a_copy() -> None:
    # Row 0 stores a zero at column 1, row 1 stores its diagonal in two halves.
    given = sparse.csr_array(([1.0, 0.0, 0.5, 0.5], [0, 1, 1, 1], [0, 2, 4]))
    W = as_matrix(given, 2, "W")
    assert W.nnz == 2
    np.testing.assert_array_equal(W.toarray(), np.eye(2))
    assert given.data.tolist() == [1.0, 0.0, 0.5, 0.5]
    assert given.indices.tolist() == [0, 1, 1, 1]


def test_unreadable_matrices_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "W.npy"
    assert refusal(path) == (
        f"{path}: cannot be read: No such file or directory; check the path in "
        "[network]"
    )
    path.write_bytes(b"not numpy at all")
    message = refusal(path)
    assert message.startswith(f"{path}: not a file of numpy.save (the magic string")
    assert message.endswith("; write W with numpy.save, or as text")
    path = tmp_path / "W.npz"
    np.savez(path, W=W3)
    assert refusal(path).startswith(f"{path}: not a file of scipy.sparse.save_npz (")
    path = tmp_path / "W.csv"
    path.write_text("1, 0\n0, one\n")
    assert refusal(path, 2) == (
        f"{path}: line 2: could not convert string to float: 'one'; expected one row "
        "of W, numbers with blanks or commas between"
    )
    wrong = "but the number of agents is 2; give a W of 2 × 2, or start as many ranks "
    wrong += "as W has rows"
    for text, found in [
        ("1 0\n0 1 0\n", "row 1 of W has 3 numbers"),
        ("1 0 0\n0 1 0\n", "row 0 of W has 3 numbers"),
        ("1 0\n0 1\n0 0\n", "W has more rows"),
        ("1 0\n", "W has 1 rows"),
        ("# nothing\n", "W has 0 rows"),
    ]:
        path.write_text(text)
        assert refusal(path, 2) == f"{path}: {found}, {wrong}"
    path.write_text("1" * (1 << 24))
    assert refusal(path) == (
        f"{path}: line 1 has 16,777,216 characters or more; expected one edge, or one "
        "row of W, a line"
    )


def stored(path: Path, **changes: object) -> Path:
    """W3 as scipy stores it, with other arrays in the place of some."""
    W = sparse.csr_array(W3)
    arrays = {"data": W.data, "indices": W.indices, "indptr": W.indptr}
    arrays |= {"format": b"csr", "shape": W.shape, **changes}
    np.savez(path, **{k: v for k, v in arrays.items() if v is not None})
    return path


def test_every_format_of_npz_that_is_taken(tmp_path: Path) -> None:
    W = sparse.coo_array(W3)
    both = {"indices": None, "indptr": None, "format": "coo", "data": W.data}
    for changes in (
        {},
        {"format": "csc"},
        {"indices": np.array(sparse.csr_array(W3).indices, np.uint16)},
        {"data": sparse.csr_array(W3).data.astype(np.float16)},
        {**both, "row": W.row, "col": W.col},
        {**both, "coords": np.array([W.row, W.col])},
    ):
        path = stored(tmp_path / "W.npz", **changes)
        np.testing.assert_array_equal(read_matrix(path, 3).toarray(), W3)


INDPTR = "expected indptr to rise in 3 steps from 0 to 7, the number of indices"
PLACES = "expected a row and a column from 0 to 2 for each of the 7 numbers"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        # Each took scipy beyond its arrays, or to an exception of another kind.
        ({"indptr": [0, 10**9, 4, 7]}, INDPTR),
        ({"indptr": [0, 2, 5, 10**9]}, INDPTR),
        ({"indptr": [-5, 2, 5, 7]}, INDPTR),
        ({"indptr": [1, 2, 5, 7]}, INDPTR),
        ({"indptr": [0, 2, 7]}, INDPTR),
        ({"indptr": np.array([0.0, 2, 5, 7])}, "indptr holds float64; expected inte"),
        ({"indptr": [0, 2, 5, 7, 7]}, "indptr has the shape (5,) and holds int64"),
        ({"indices": [0, 1, 0, 1, 2, 1, 3]}, PLACES),
        ({"indices": [0, 1, 0, 1, 2, 1, -1]}, PLACES),
        ({"indices": np.array([2**63] * 7, np.uint64)}, PLACES),
        ({"data": np.ones(6)}, PLACES.replace("7", "6")),
        ({"data": np.ones(10)}, "data has the shape (10,) and holds float64"),
        ({"data": np.array([W3] * 7)}, "data has the shape (7, 3, 3) and holds float6"),
        ({"data": np.ones(7) * 1j}, "data holds complex128; expected real numbers"),
        ({"data": np.array([None] * 7)}, "data has the shape (7,) and holds object"),
        ({"data": None}, "There is no item named 'data.npy' in the archive"),
        ({"format": "bsr"}, "its format is 'bsr'; expected csr, csc or coo"),
        ({"format": b"dia"}, "its format is 'dia'; expected csr, csc or coo"),
        ({"format": b"x" * 1000}, "format has the shape () and holds |S1000"),
        ({"shape": [3.0, 3.0]}, "shape holds float64; expected integers"),
    ],
)
def test_wrong_arrays_in_an_npz_file_are_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    path = stored(tmp_path / "W.npz", **changes)
    message = refusal(path)
    assert message.startswith(f"{path}: not a file of scipy.sparse.save_npz (")
    assert said in message
    assert message.endswith("); write W with scipy.sparse.save_npz, or as text")


def numpy_header(shape: str) -> bytes:
    """A .npy file of 72 bytes of numbers, and a shape in its header."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"
    length = len(text).to_bytes(2, "little")
    return b"\x93NUMPY\x01\x00" + length + text.encode() + W3.tobytes()


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (f"({10**30}, {10**30})", "it ends before the last number"),
        ("(-3, -3)", "its shape is (-3, -3)"),
        ("(True, 9)", "its shape is (True, 9)"),
        ("(3, 4)", "it ends before the last number"),
        (f"({'9' * 5000}, 3)", "Cannot parse header"),
        ("(" * 5000, "("),
    ],
)
def test_wrong_headers_of_npy_files_are_refused(
    tmp_path: Path, shape: str, said: str
) -> None:
    path = tmp_path / "W.npy"
    path.write_bytes(numpy_header(shape))
    message = refusal(path)
    assert message.startswith(f"{path}: not a file of numpy.save (")
    assert said in message
    path.write_bytes(numpy_header("(3, 3)"))
    assert read_matrix(path, 3).toarray().tolist() == W3.tolist()


@pytest.mark.parametrize(
    "given",
    [np.eye(2) * 1j, np.ones(3), np.ones((2, 2, 2)), np.array([["a"]])],
)
def test_what_is_no_square_real_matrix_is_refused(given: object) -> None:
    with pytest.raises(UserError, match="expected a square matrix of real numbers"):
        as_matrix(given, 2, "W")


def test_ragged_lists_are_refused() -> None:
    with pytest.raises(UserError, match="W: W is not a matrix: "):
        as_matrix([[1.0, 0.0], [0.0]], 2, "W")


def changed(*entries: tuple[int, int, float]) -> sparse.csr_array:
    W = W3.copy()
    for i, j, value in entries:
        W[i, j] = value
    return matrix(W)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (
            changed((1, 2, np.nan)),
            "W.npy: W[1, 2] is nan; expected numbers from -1 to 1, between which those "
            "of a gossip matrix lie",
        ),
        (
            changed((0, 0, np.inf)),
            "W.npy: W[0, 0] is inf; expected numbers from -1 to 1, between which those "
            "of a gossip matrix lie",
        ),
        (
            changed((0, 1, 1e308), (1, 0, -1e308)),
            "W.npy: W[0, 1] is 1e+308; expected numbers from -1 to 1, between which "
            "those of a gossip matrix lie",
        ),
        (
            changed((1, 2, 0.3)),
            "W.npy: W is not symmetric: W[1, 2] = 0.3, but W[2, 1] = 0.25; expected "
            "the same within 1e-12",
        ),
        (
            changed((0, 2, 0.1)),
            "W.npy: W is not symmetric: W[0, 2] = 0.1, but W[2, 0] = 0; expected the "
            "same within 1e-12",
        ),
        (
            changed((2, 2, 0.750001)),
            "W.npy: row 2 of W sums to 1.000001; expected 1 within 1e-12: correct it, "
            "or write W with all its digits (17)",
        ),
    ],
)
def test_wrong_entries_are_refused(W: sparse.csr_array, message: str) -> None:
    with pytest.raises(UserError) as error:
        checked_symmetric(W, "W.npy")
    assert str(error.value) == message


def test_the_pattern_is_symmetric_even_where_rounding_is_not() -> None:
    tiny = 1e-15
    W = checked_symmetric(changed((0, 2, tiny)), "W")
    assert W[0, 2] == W[2, 0] == tiny / 2
    W = checked_symmetric(changed((0, 2, tiny), (2, 0, -tiny)), "W")
    assert W.nnz == 7
    assert checked_symmetric(matrix(W3), "W").toarray().tolist() == W3.tolist()


def test_support_is_the_graph_of_the_weights() -> None:
    graph = support(matrix(W3))
    assert list(graph) == [0, 1, 2]
    assert sorted(graph.edges()) == [(0, 1), (1, 2)]


def test_a_weight_off_the_graph_is_refused() -> None:
    W = matrix(W3)
    check_edges(W, nx.path_graph(3), "W.npy")
    check_edges(W, nx.complete_graph(3), "W.npy")
    with pytest.raises(UserError) as error:
        check_edges(W, nx.Graph([(0, 1), (0, 2)]), "W.npy")
    assert str(error.value) == (
        "W.npy: W[1, 2] = 0.25, but the graph has no edge between 1 and 2; set it to "
        "0, add the edge, or give W alone"
    )


def test_the_spectrum_of_a_valid_matrix() -> None:
    eigenvalues = np.linalg.eigvalsh(W3)
    assert checked_spectrum(matrix(W3), "W") == pytest.approx(eigenvalues[:2])
    assert checked_spectrum(matrix([[1.0]]), "W") == (0, 0)


def ring_weights(m: int, w: float) -> sparse.csr_array:
    """W = I − w L of a ring: eigenvalues 1 − 4 w sin²(π j / m)."""
    shift = np.roll(np.eye(m), 1, axis=0)
    return matrix((1 - 2 * w) * np.eye(m) + w * (shift + shift.T))


@pytest.mark.parametrize("m", [4, 400])
def test_an_eigenvalue_at_or_below_minus_one_is_refused(m: int) -> None:
    remedy = "; expected all above -1: use (I + W) / 2, or smaller weights"
    for w, value in ((0.5, "-1"), (0.75, "-2")):
        with pytest.raises(UserError) as error:
            checked_spectrum(ring_weights(m, w), "W.npy")
        start, _, end = str(error.value).partition(remedy)
        assert end == ""
        assert start.startswith("W.npy: W has the eigenvalue -")
        assert float(start.split()[-1]) == pytest.approx(float(value))
    assert checked_spectrum(ring_weights(m, 0.499), "W").smallest > -1


@pytest.mark.parametrize("m", [4, 400])
def test_a_second_eigenvalue_of_one_or_more_is_refused(m: int) -> None:
    with pytest.raises(UserError) as error:
        checked_spectrum(ring_weights(m, -0.25), "W.npy")
    assert str(error.value).startswith("W.npy: W has an eigenvalue ")
    assert str(error.value).endswith(
        " besides the 1 of consensus; expected all others below 1: make the weights "
        "positive, or smaller"
    )
    assert float(str(error.value).split()[5]) == pytest.approx(2, abs=1e-3)


@pytest.mark.parametrize("seed", range(10))
def test_an_eigenvalue_one_that_is_not_simple_is_refused(seed: int) -> None:
    # Connected, yet no gossip matrix: all that is orthogonal to v is kept.
    v = np.random.default_rng(seed).standard_normal(4)
    v -= v.mean()
    with pytest.raises(UserError, match=r"has an eigenvalue .* besides the 1 of"):
        checked_spectrum(matrix(np.eye(4) - 0.1 * np.outer(v, v)), "W")
