"""The faults that `mutants.py` plants: at least two for each method."""

from __future__ import annotations

from dataclasses import dataclass

EXACT = "tests/mpi/conformance/test_exactness.py"
SOLVE = "tests/mpi/test_solve.py"
GOSSIP = "tests/mpi/test_gossip.py"
OF_AGENTS = "tests/mpi/test_agent.py"

AGENT = "pmgt_mpi/agent.py"
MIXING = "pmgt_mpi/gossip/gossip.py"
POLYNOMIALS = "pmgt_mpi/gossip/polynomials.py"
EVALUATION = "pmgt_mpi/execution/evaluation.py"
TABLE = "pmgt_mpi/problems/gradient_table.py"
ROUNDS = "pmgt_mpi/engine/rounds.h"


@dataclass(frozen=True)
class Fault:
    """One change: what it does, where, and the tests that should notice."""

    name: str
    file: str
    tests: str
    select: str
    old: str
    new: str
    ranks: int = 4


# fmt: off
METHODS = {
    "pmgt-katyushax": [
        ("mu is the local gradient",
         "s = v = mu = s_hat", "s = v = s_hat\n        mu = g"),
        ("T is off by one", "range(T + 1)", "range(max(T, 1))"),
        ("q is not mixed",
         "q = agent.mix((k.q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2), M)",
         "q = (k.q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2)"),
        ("wrong sign in q", "- (x - y) / (2 * tau)", "+ (x - y) / (2 * tau)"),
        ("momentum weighs y instead of q",
         "tau * k.q + (1 - tau) * k.y", "tau * k.y + (1 - tau) * k.q"),
        ("outer tracker is not mixed",
         "s_hat = agent.mix(k.s_hat + g - k.grad_x, M)",
         "s_hat = k.s_hat + g - k.grad_x"),
    ],
    "pmgt-svrg": [
        ("inner tracker is not mixed",
         "s = agent.mix(s + v_next - v, M)", "s = s + v_next - v"),
        ("inner tracker forgets the old estimate", "s + v_next - v", "s + v_next - mu"),
        ("prox before the step instead of after it",
         "agent.prox(w - eta * s, eta)", "agent.prox(w, eta) - eta * s"),
        ("gradient at the unmixed snapshot",
         "g = agent.grad(x)", "g = agent.grad(k.y)"),
    ],
    "pg-extra": [
        ("W in place of (I + W)/2", "Wt_x=(k.x + W_x) / 2", "Wt_x=W_x"),
        ("forgets the old gradient", "alpha * (g - k.grad_x)", "alpha * g"),
    ],
    "nids": [
        ("W in place of (I + W)/2",
         "(u + agent.gossip(u)) / 2", "agent.gossip(u)"),
        ("corrects with the wrong sign",
         "- alpha * (g - s.grad_old)", "- alpha * (g + s.grad_old)"),
    ],
    "gt-svrg": [
        ("takes the step before the round",
         "x = W_x - self.step_size * s.t", "x = W_x - self.step_size * W_t"),
        ("tracker is not mixed", "t=W_t + v - s.v", "t=s.t + v - s.v"),
    ],
    "gt-saga": [
        ("combines before it adapts",
         "x = agent.gossip(k.x - self.step_size * k.t)",
         "x = agent.gossip(k.x) - self.step_size * k.t"),
        ("tracker forgets the old estimate",
         "t = agent.gossip(k.t + v - k.v)", "t = agent.gossip(k.t + v - k.mean)"),
    ],
    "pmgt-saga": [
        ("iterate is not mixed",
         "x = agent.mix(agent.prox(k.x - eta * k.s, eta), M)",
         "x = agent.prox(k.x - eta * k.s, eta)"),
        ("steps along its own estimate", "k.x - eta * k.s", "k.x - eta * k.v"),
    ],
    "pmgt-lsvrg": [
        ("snapshot is the point before",
         "w, mu = x, agent.grad(x)", "w, mu = k.x, agent.grad(k.x)"),
        ("every agent has its own coin",
         "agent.coin(self.probability)", "agent.own_coin(self.probability)"),
    ],
    "extra": [
        ("W in place of (I + W)/2", "Wt_x=(k.x + W_x) / 2", "Wt_x=W_x"),
        ("forgets the old gradient", "(g - k.grad_x)", "g"),
    ],
    "exact-diffusion": [
        ("corrects twice", "psi + k.x - k.psi", "psi + 2 * (k.x - k.psi)"),
        ("W in place of (I + W)/2",
         "x=(corrected + agent.gossip(corrected)) / 2", "x=agent.gossip(corrected)"),
    ],
    "p2d2": [
        ("corrects with x instead of z", "psi + k.z - k.psi", "psi + k.x - k.psi"),
        ("prox with half the step", "agent.prox(z, alpha)", "agent.prox(z, alpha / 2)"),
    ],
    "sonata": [
        ("tracks without mixing",
         "t=agent.gossip(k.t + g - k.grad_x)", "t=k.t + g - k.grad_x"),
        ("relaxes the wrong way", "k.x + gamma * (", "k.x + (1 - gamma) * ("),
    ],
    "dsa": [
        ("old estimate is the mean of the table", "(v - k.v)", "(v - k.mean)"),
        ("W in place of (I + W)/2", "Wt_x=(k.x + W_x) / 2", "Wt_x=W_x"),
    ],
    "d-get": [
        ("period is off by one", "(s.k + 1) % self.period", "s.k % self.period"),
        ("difference from the mixed point",
         "agent.grad_difference(x, s.x, B)", "agent.grad_difference(x, W_x, B)"),
    ],
    "gt-sarah": [
        ("estimate does not recur",
         "v = s.v + agent.grad_difference(x, s.x, B)",
         "v = s.t + agent.grad_difference(x, s.x, B)"),
        ("combines before it adapts",
         "x = agent.gossip(s.x - self.step_size * s.t)",
         "x = agent.gossip(s.x) - self.step_size * s.t"),
    ],
    "destress": [
        ("difference is not divided by p",
         "agent.grad_difference(u, u_old, B) / p",
         "agent.grad_difference(u, u_old, B)"),
        ("one inner step too many",
         "range(self.inner_steps - 1)", "range(self.inner_steps)"),
    ],
    "dearest": [
        ("coin upside down",
         "if agent.coin(self.probability)", "if not agent.coin(self.probability)"),
        ("tracker is not mixed", "s=agent.mix(k.s + v - k.v, M)", "s=k.s + v - k.v"),
    ],
    "dgt": [
        ("takes the step before the round",
         "x = W_x - self.step_size * k.t", "x = W_x - self.step_size * W_t"),
        ("tracker is not mixed", "t=W_t + g - k.grad_x", "t=k.t + g - k.grad_x"),
    ],
    "mudag": [
        ("momentum from the extrapolated point", "* (x - k.x)", "* (x - k.y)"),
        ("gradient where nothing is extrapolated", "agent.grad(y)", "agent.grad(x)"),
    ],
    "proxskip": [
        ("corrects as if every step sent",
         "h=k.h + p / alpha * (x - x_hat)", "h=k.h + (x - x_hat) / alpha"),
        ("W in place of (I + W)/2",
         "x = (x_hat + agent.gossip(x_hat)) / 2", "x = agent.gossip(x_hat)"),
    ],
    "network-svrg": [
        ("differs from the point before instead of the outer one",
         "agent.grad_difference(u, y, B)", "agent.grad_difference(u, k.x, B)"),
        ("tracker forgets the old gradient", "W_s + g - k.grad_y", "W_s + g - k.s"),
    ],
    "network-sarah": [
        ("estimate does not recur",
         "v = v + agent.grad_diff", "v = s + agent.grad_diff"),
        ("one inner step too many",
         "range(self.inner_steps - 1)", "range(self.inner_steps)"),
    ],
    "network-dane": [
        ("forgets the own gradient", "agent.grad(u) - g + s", "agent.grad(u) + s"),
        ("is drawn to the point before", "(u - y) / eta", "(u - z) / eta"),
    ],
    "opapc": [
        ("steps with the dual variable of before",
         "x = (k.x - eta * (G + z))", "x = (k.x - eta * (G + k.z))"),
        ("the quadratic part counts twice",
         "agent.grad(x_g) - mu * x_g", "agent.grad(x_g)"),
    ],
    "dsba": [
        ("takes the gradient at the point before",
         "f.dot(psi, j), push", "f.dot(k.x, j), push"),
        ("the row counts once in its sum",
         "f.combine(n * old, j)", "f.combine(old, j)"),
    ],
    "dvr": [
        ("the mix is not divided by its probability",
         "self.step_size / (f.mu * p)", "self.step_size / f.mu"),
        ("rows by even odds", "odds=np.cumsum(1 + f.smoothness / f.mu)",
         "odds=np.cumsum(1 + 0 * f.smoothness)"),
    ],
    "adfs": [
        ("the mix is not divided by its probability in x",
         "x + rho / p * D", "x + rho * D"),
        ("the other rows stand still",
         "v_rows = (1 - rho) * k.v_rows + rho * y_rows", "v_rows = k.v_rows.copy()"),
    ],
    "vr-extra": [
        ("the sum of what was mixed away counts twice",
         "q=k.q + apart / 2", "q=k.q + apart"),
        ("snapshot is the new point", "w, mu = k.x, agent.grad(k.x)",
         "w, mu = x, agent.grad(x)"),
    ],
    "opapc-katyusha": [
        ("the snapshot has no weight in y",
         "+ TO_SNAPSHOT * k.w + (1 - tau - TO_SNAPSHOT) * k.x", "+ (1 - tau) * k.x"),
        ("steps with the dual variable of before",
         "z = (k.z - eta * (v + q))", "z = (k.z - eta * (v + k.q))"),
    ],
}
"""What goes wrong in a method, the text, and what takes its place."""

LINEAR = ("dsba", "dvr", "adfs")
"""Those of them that need components which are convex."""

CENTRAL = [
    ("draws one row at a time", "**asdict(self), mix_rounds=0",
     '**(asdict(self) | {"batch_size": 1}), mix_rounds=0'),
    ("takes another step", "**asdict(self), mix_rounds=0",
     '**(asdict(self) | {"step_size": 0.03}), mix_rounds=0'),
]
"""The same for the methods of one agent."""

SAGA_ALONE = [
    ("prox before the step instead of after it",
     "agent.prox(k.x - eta * v, eta)", "agent.prox(k.x, eta) - eta * v"),
    ("the mean of the table stays", "mean=mean)\n\n    def solution",
     "mean=k.mean)\n\n    def solution"),
]
"""The same for SAGA."""

REST = [
    Fault("M + 1 rounds", MIXING, EXACT, "katyushax and pca",
          "terms = coefficients(self.mixing, rounds,",
          "terms = coefficients(self.mixing, rounds + 1,"),
    Fault("sum of the neighbours unweighted", MIXING, GOSSIP, "",
          "own = np.append(neighbourhood.weights, neighbourhood.own_weight)",
          "own = np.append(np.full(len(neighbourhood.weights), 1 / 3), 1 / 3)"),
    Fault("momentum of FastMix is that of Liu and Morse", POLYNOMIALS,
          EXACT, "katyushax and fastmix",
          "return _momentum(1 / (1 + sqrt(1 - lam**2)))",
          "return _momentum((1 - sqrt(1 - lam**2)) / (1 + sqrt(1 - lam**2)))"),
    Fault("Chebyshev interval without lambda_min", POLYNOMIALS,
          EXACT, "katyushax and chebyshev",
          "= (lambda_2 + lambda_min) / 2, (lambda_2 - lambda_min) / 2",
          "= 0.0, lambda_2"),
    Fault("T is drawn per rank", AGENT, EXACT, "katyushax and pca-True-0.0-chebyshev",
          "self._shared = stream(seed, purpose, 0)",
          "self._shared = stream(seed, purpose, 0, agent_id)"),
    Fault("all agents draw the same rows", AGENT, OF_AGENTS, "",
          "own = stream(seed, purpose, 1, agent_id)",
          "own = stream(seed, purpose, 1)"),
    Fault("sampling without replacement", "pmgt_mpi/streams.py", OF_AGENTS, "",
          "self._block = self._rng.integers(0, self._n, max(b, BLOCK - BLOCK % b))",
          "self._block = self._rng.permutation(self._n)[:b]"),
    Fault("shards unweighted", AGENT, EXACT, "nids and False",
          "return gradient if self._weight == 1.0 else self._weight * gradient",
          "return gradient"),
    Fault("b counted instead of 2b for a difference", AGENT, OF_AGENTS, "",
          "self.gradients += 2 * len(rows)", "self.gradients += len(rows)"),
    Fault("metrics draw from the algorithm's stream", EVALUATION, SOLVE, "cadence",
          "with self.evaluation:",
          "with self.evaluation:\n            self.agent.minibatch(1)"),
    Fault("evaluation counts gradients", EVALUATION, SOLVE, "cadence",
          "with self.evaluation:",
          "with self.evaluation:\n            self.agent.grad(x)"),
    Fault("SAGA stores a row as often as it was drawn", TABLE, EXACT, "gt-saga-pca",
          "if len(first) < len(rows):  # a row drawn twice is stored once",
          "if len(first) < 0:"),
    Fault("SAGA never brings its table up to date", TABLE, EXACT, "gt-saga-pca",
          "            step = problem.combine(once, rows)\n        table[rows] = new",
          "            step = problem.combine(once, rows)"),
    Fault("x^{k-1} is lost where the tape starts again",
          "pmgt_mpi/gossip/exchange.py", GOSSIP, "",
          "for start in (0, 1):", "for start in (1,):"),
    Fault("a mix is let through while another is under way", MIXING,
          "tests/mpi/test_overlap.py", "refused",
          "if self.started is not None:\n            self.refuse_unfinished()\n"
          "        if self.alone:", "if self.alone:"),
    Fault("what is done while a round travels counts as communication", MIXING,
          "tests/mpi/test_overlap.py", "clocks",
          "gossip.entered = start = perf_counter()\n",
          "gossip.entered = start = perf_counter() - 1\n"),
    Fault("compiled rounds always skip x^{k-1}", ROUNDS, GOSSIP, "compiled",
          "skip = k == 0 || weights[0] == 0;", "skip = 1;"),
    Fault("compiled rounds are not counted", ROUNDS, GOSSIP, "compiled",
          "++*(int64_t *)e->rounds.buf;", ";"),
    Fault("a compiled minibatch forgets the rows beyond a multiple of four",
          "pmgt_mpi/engine/rows.h", EXACT, "katyushax and compiled",
          "for (int64_t j = 0; j < p->b; j += 4) {",
          "for (int64_t j = 0; j + 3 < p->b; j += 4) {"),
]
# fmt: on


def of_method(
    method: str, changes: list[tuple[str, str, str]], ranks: int
) -> list[Fault]:
    """Return the faults of one method, which its own tests should notice."""
    file = f"pmgt_mpi/algorithms/{method.replace('-', '_')}.py"
    kind = "ridge" if method in LINEAR else "pca"
    return [
        Fault(f"{method}: {what}", file, EXACT, f"[{method}-{kind}", old, new, ranks)
        for what, old, new in changes
    ]


FAULTS = [
    *(fault for name, own in METHODS.items() for fault in of_method(name, own, 4)),
    *(fault for name in ("katyushax", "svrg") for fault in of_method(name, CENTRAL, 1)),
    *of_method("saga", SAGA_ALONE, 1),
    *REST,
]
