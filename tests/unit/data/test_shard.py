from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard

A = np.arange(12.0).reshape(4, 3)


def test_what_a_shard_knows() -> None:
    shard = Shard(A, np.ones(4), total_rows=10, agents=2)
    assert (shard.rows, shard.columns, shard.sparse) == (4, 3, False)
    assert shard.weight == 0.8
    assert shard.nbytes == 12 * 8 + 4 * 8
    sparse = Shard(csr_array(A), None, total_rows=10, agents=2)
    assert (sparse.rows, sparse.columns, sparse.sparse) == (4, 3, True)
    assert sparse.nbytes == 11 * (8 + 4) + 5 * 4


def test_the_digest_tells_all_bits_apart() -> None:
    changed = A.copy()
    changed[3, 2] = np.nextafter(11.0, 12.0)
    shards = [
        Shard(A, None, 4, 1),
        Shard(changed, None, 4, 1),
        Shard(A.reshape(3, 4), None, 4, 1),
        Shard(A, np.zeros(4), 4, 1),
        Shard(A, np.ones(4), 4, 1),
        Shard(A.astype(np.float32), None, 4, 1),
        Shard(csr_array(A), None, 4, 1),
        Shard(csr_array(changed), None, 4, 1),
        Shard(csr_array((4, 3)), None, 4, 1),
    ]
    assert len({shard.digest() for shard in shards}) == len(shards)
    assert Shard(A.copy(), None, 4, 1).digest() == shards[0].digest()
