"""Plant faults one at a time, and see that each makes a test fail.

Usage: python scripts/mutants.py [--only WORD] [--list]

Every fault is one change of the text of one file, made in a copy of the repository. The
tests that should notice it are run there on real ranks; if they pass, the fault has
survived, and the exit code is 1. First the same tests are run without a fault.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.launcher import TimeLimitError, mpirun  # noqa: E402

RANKS = 4
LIMIT = 120
"""Seconds for the tests of one fault; a fault that makes ranks wait is cut off."""

EXACT = "tests/mpi/test_exactness.py"
SOLVE = "tests/mpi/test_solve.py"
GOSSIP = "tests/mpi/test_gossip.py"


@dataclass(frozen=True)
class Fault:
    """One change: what it does, where, and the tests that should notice."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    select: str = ""


KATYUSHAX = "pmgt_mpi/algorithms/pmgt_katyushax.py"
SVRG = "pmgt_mpi/algorithms/pmgt_svrg.py"
EXTRA = "pmgt_mpi/algorithms/pg_extra.py"
NIDS = "pmgt_mpi/algorithms/nids.py"
AGENT = "pmgt_mpi/agent.py"
MIXING = "pmgt_mpi/gossip/gossip.py"
POLYNOMIALS = "pmgt_mpi/gossip/polynomials.py"
EVALUATION = "pmgt_mpi/runtime/evaluation.py"

FAULTS = [
    Fault(
        "mu is the local gradient",
        KATYUSHAX,
        "s = v = mu = s_hat",
        "s = v = s_hat\n        mu = g",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "T is off by one",
        KATYUSHAX,
        "range(T + 1)",
        "range(max(T, 1))",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "q is not mixed",
        KATYUSHAX,
        "q = agent.mix((k.q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2), M)",
        "q = (k.q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2)",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "wrong sign in q",
        KATYUSHAX,
        "- (x - y) / (2 * tau)",
        "+ (x - y) / (2 * tau)",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "momentum weighs y instead of q",
        KATYUSHAX,
        "tau * k.q + (1 - tau) * k.y",
        "tau * k.y + (1 - tau) * k.q",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "outer tracker is not mixed",
        KATYUSHAX,
        "s_hat = agent.mix(k.s_hat + g - k.grad_x, M)",
        "s_hat = k.s_hat + g - k.grad_x",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "inner tracker is not mixed",
        SVRG,
        "s = agent.mix(s + v_next - v, M)",
        "s = s + v_next - v",
        EXACT,
        "svrg and pca",
    ),
    Fault(
        "inner tracker forgets the old estimate",
        SVRG,
        "s + v_next - v",
        "s + v_next - mu",
        EXACT,
        "svrg and pca",
    ),
    Fault(
        "prox before the step instead of after it",
        SVRG,
        "agent.prox(w - eta * s, eta)",
        "agent.prox(w, eta) - eta * s",
        EXACT,
        "svrg and pca",
    ),
    Fault(
        "gradient at the unmixed snapshot",
        SVRG,
        "g = agent.grad(x)",
        "g = agent.grad(k.y)",
        EXACT,
        "svrg and pca",
    ),
    Fault(
        "M + 1 rounds",
        MIXING,
        "terms = coefficients(self.mixing, rounds,",
        "terms = coefficients(self.mixing, rounds + 1,",
        EXACT,
        "katyushax and pca",
    ),
    Fault(
        "sum of the neighbours unweighted",
        MIXING,
        "own = np.append(neighbourhood.weights, neighbourhood.own_weight)",
        "own = np.append(np.full(len(neighbourhood.weights), 1 / 3), 1 / 3)",
        GOSSIP,
    ),
    Fault(
        "momentum of FastMix is that of Liu and Morse",
        POLYNOMIALS,
        "return _momentum(1 / (1 + sqrt(1 - lam**2)))",
        "return _momentum((1 - sqrt(1 - lam**2)) / (1 + sqrt(1 - lam**2)))",
        EXACT,
        "katyushax and fastmix",
    ),
    Fault(
        "Chebyshev interval without lambda_min",
        POLYNOMIALS,
        "centre, half_width = (lambda_2 + lambda_min) / 2, (lambda_2 - lambda_min) / 2",
        "centre, half_width = 0.0, lambda_2",
        EXACT,
        "katyushax and chebyshev",
    ),
    Fault(
        "T is drawn per rank",
        AGENT,
        'self._shared = stream(seed, f"algorithm {label}", 0)',
        'self._shared = stream(seed, f"algorithm {label}", 0, agent_id)',
        EXACT,
        "katyushax and pca-True-0.0-chebyshev",
    ),
    Fault(
        "all agents draw the same rows",
        AGENT,
        'own = stream(seed, f"algorithm {label}", 1, agent_id)',
        'own = stream(seed, f"algorithm {label}", 1)',
        "tests/mpi/test_agent.py",
    ),
    Fault(
        "sampling without replacement",
        "pmgt_mpi/streams.py",
        "self._block = self._rng.integers(0, self._n, max(b, BLOCK - BLOCK % b))",
        "self._block = self._rng.permutation(self._n)[:b]",
        "tests/mpi/test_agent.py",
    ),
    Fault(
        "shards unweighted",
        AGENT,
        "return gradient if self._weight == 1.0 else self._weight * gradient",
        "return gradient",
        EXACT,
        "nids and False",
    ),
    Fault(
        "b counted instead of 2b for a difference",
        AGENT,
        "self.gradients += 2 * len(rows)",
        "self.gradients += len(rows)",
        "tests/mpi/test_agent.py",
    ),
    Fault(
        "metrics draw from the algorithm's stream",
        EVALUATION,
        "m = collective.agents",
        "m = collective.agents\n            self.agent.minibatch(1)",
        SOLVE,
        "cadence",
    ),
    Fault(
        "evaluation counts gradients",
        EVALUATION,
        "m = collective.agents",
        "m = collective.agents\n            self.agent.grad(x)",
        SOLVE,
        "cadence",
    ),
    Fault(
        "PG-EXTRA with W in place of (I + W)/2",
        EXTRA,
        "Wt_x=(k.x + W_x) / 2",
        "Wt_x=W_x",
        EXACT,
        "extra and pca",
    ),
    Fault(
        "PG-EXTRA forgets the old gradient",
        EXTRA,
        "alpha * (g - k.grad_x)",
        "alpha * g",
        EXACT,
        "extra and pca",
    ),
    Fault(
        "NIDS with W in place of (I + W)/2",
        NIDS,
        "(u + agent.gossip(u)) / 2",
        "agent.gossip(u)",
        EXACT,
        "nids and pca",
    ),
    Fault(
        "NIDS corrects with the wrong sign",
        NIDS,
        "- alpha * (g - s.grad_old)",
        "- alpha * (g + s.grad_old)",
        EXACT,
        "nids and pca",
    ),
]


def run_tests(folder: Path, tests: str, select: str) -> tuple[bool, str]:
    """Run tests in a copy of the repository; whether they pass, and the last line."""
    arguments = ["-m", "pytest", "--with-mpi", "-x", "-q", "--color=no", "--timeout=30"]
    arguments += [tests, *(["-k", select] if select else [])]
    try:
        result = mpirun(RANKS, arguments, timeout=LIMIT, cwd=folder)
    except TimeLimitError:
        return False, "the ranks wait for each other"
    failed = [line for line in result.stdout.splitlines() if line.startswith("E  ")]
    return result.returncode == 0, failed[0][1:].strip() if failed else ""


def copy_repository(folder: Path) -> None:
    """Copy what the tests need."""
    for name in ("pmgt_mpi", "tests", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)


def plant(fault: Fault, folder: Path) -> None:
    """Make the change of one fault in the copy."""
    text = (ROOT / fault.file).read_text()
    if text.count(fault.old) != 1:
        sys.exit(
            f"fault '{fault.name}': {fault.file} holds {text.count(fault.old)} times "
            f"the text {fault.old!r}; expected once"
        )
    (folder / fault.file).write_text(text.replace(fault.old, fault.new))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="faults whose name has this in it")
    parser.add_argument("--list", action="store_true", help="name the faults only")
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if options.only in fault.name]
    if options.list:
        print("\n".join(fault.name for fault in faults))
        return 0
    survived = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "copy"
        copy_repository(folder)
        for tests, select in sorted({(f.tests, f.select) for f in faults}):
            passed, line = run_tests(folder, tests, select)
            if not passed:
                sys.exit(f"without a fault {tests} -k '{select}' fails: {line}")
        print(f"without a fault all tests pass; {len(faults)} faults on {RANKS} ranks")
        for fault in faults:
            start = time.monotonic()
            plant(fault, folder)
            passed, line = run_tests(folder, fault.tests, fault.select)
            shutil.copy(ROOT / fault.file, folder / fault.file)
            verdict = "SURVIVED" if passed else "caught"
            seconds = time.monotonic() - start
            print(
                f"{verdict:8} {seconds:5.1f} s  {fault.name}: {line[:90]}", flush=True
            )
            if passed:
                survived.append(fault.name)
    print(f"{len(faults) - len(survived)} of {len(faults)} faults caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
