"""How small a regression the gate can prove: one model against itself, idle and beside busy neighbours.

For P50 and P99, on wall and on corrected latency: the confidence interval of the model against itself, and what is
seen of an injected regression of 10 % (each request's own time, not its wait for a core, grows by 10 %). Beside busy
neighbours the wall P99 is a time slice of the scheduler: narrow, and blind to the model.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

from interlock.bench import stats, verdict
from interlock.bench.inputs import make
from interlock.bench.measure import Runner, Samples, rounds
from interlock.bench.providers import open_session

ROUNDS, REQUESTS = 15, 60
SPIN = "while True: pass"


def model(folder: str) -> str:
    """Twelve 384 x 384 matrix products on a batch of 8: about a millisecond."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    width, depth = 384, 12
    generator = np.random.default_rng(0)
    nodes, weights = [], []
    for i in range(depth):
        values = (generator.standard_normal((width, width)) / width**0.5).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"]))
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [8, width]) for n in ("h0", f"h{depth}"))
    graph = helper.make_graph(nodes, "chain", [x], [y], weights)
    made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    path = Path(folder) / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return str(path)


def measure(path: str) -> dict[str, dict[str, list[list[float]]]]:
    """Series of the same model as two arms, by kind of latency."""
    plan = make(open_session(path).raw, path)

    def open_() -> Runner:
        return Runner(open_session(path), plan)

    done = rounds({"a": open_, "b": open_}, ROUNDS, REQUESTS)

    def series(kind: str) -> dict[str, list[list[float]]]:
        def values(samples: Samples) -> list[float]:
            return samples.wall if kind == "wall" else samples.corrected

        return {arm: [values(each[arm]) for each in done] for arm in ("a", "b")}

    return {kind: series(kind) for kind in ("wall", "corrected")}


def main() -> int:
    """Measure idle and with two neighbours, print the table."""
    print(f"{'':12} {'':5} {'latency':10} {'ms':>7} {'itself':>18} {'with +10 % seen as':>26}   verdict at 3 %")
    with tempfile.TemporaryDirectory() as folder:
        path = model(folder)
        for neighbours in (0, 2):
            spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(neighbours)]
            try:
                found = measure(path)
            finally:
                for process in spinning:
                    process.kill()
                    process.wait()
            own = found["corrected"]["a"]
            for metric, (kind, arms) in itertools.product(("p50", "p99"), found.items()):
                quantile = verdict.quantile(metric)
                pooled = sorted(value for samples in arms["b"] for value in samples)
                itself = stats.ratio(arms["a"], arms["b"], quantile)
                slower = [[wall + 0.1 * mine for wall, mine in zip(*pair, strict=True)]
                          for pair in zip(arms["a"], own, strict=True)]  # fmt: skip
                seen = stats.ratio(slower, arms["b"], quantile)
                print(
                    f"{neighbours} neighbours {metric:5} {kind:10} {pooled[stats.rank(len(pooled), quantile)]:7.3f}"
                    f" {f'[{itself.low:.3f}, {itself.high:.3f}]':>18}"
                    f" {f'{seen.value:.3f} [{seen.low:.3f}, {seen.high:.3f}]':>26}"
                    f"   {verdict.judge(seen, 1.03)}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
