"""What a graph does with an input before anything trained: scale and shift, functions, missing numbers, texts.

Either side may have gone from the clients to the graph, or from the graph to the clients: no type or shape tells.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from validate.graph_cases import MEANING, ML, Case, graph, image, tabular, weight

RGB = "float[1,3,1,1] m = {0.485, 0.456, 0.406}, float[1,3,1,1] s = {0.229, 0.224, 0.225}"
BGR = "float[1,3,1,1] m = {0.406, 0.456, 0.485}, float[1,3,1,1] s = {0.225, 0.224, 0.229}"
STANDARD = "a = Sub(x, m) t = Div(a, s)"
PLAIN = image("t = Identity(x)")
NORMAL = image(STANDARD, weights=RGB)
BATCH = "float[3] g = {1, 1, 1}, float[3] b = {0, 0, 0}, float[3] m = {0.485, 0.456, 0.406}"
BATCH += ", float[3] v = {0.052441, 0.050176, 0.050625}"


def scalar(mean: float, deviation: float, seed: int = 0) -> str:
    return image(STANDARD, seed, f"float m = {{{mean}}}, float s = {{{deviation}}}")


def features(body: str = "", means: str = "", deviations: str = "", seed: int = 0) -> str:
    """Four features, standardised where means are given."""
    held = f"float[4] m = {{{means}}}, float[4] s = {{{deviations}}}, " if means else ""
    text = f"{body or (STANDARD if means else 't = Identity(x)')} y = MatMul(t, w)"
    return graph(text, weights=held + weight("w", 4, 3, seed=seed))


def forest(body: str, held: str = "", source: str = "x", missing: int = 0) -> str:
    """A tree over four features, which may know where to go without a value."""
    tree = (
        f"y = {ML}.TreeEnsembleRegressor <n_targets = 1, nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], "
        'nodes_featureids=[0,0,0], nodes_values=[0.1,0.0,0.0], nodes_modes=["BRANCH_LEQ","LEAF","LEAF"], '
        f"nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], nodes_missing_value_tracks_true=[{missing},0,0], "
        "target_treeids=[0,0], target_nodeids=[1,2], "
        "target_ids=[0,0], target_weights=[0.2,0.9]> (t)"
    )
    return graph(f"{body} {tree}", f"float[N,4] {source}", "float[N,1] y", held)


def regression(body: str, held: str = "", seed: int = 0, source: str = "x") -> str:
    weights = held + weight("w", 4, 1, seed=seed)
    return graph(f"{body} y = MatMul(t, w)", f"float[N,4] {source}", "float[N,1] y", weights)


FOUR = "float[4] m = {1, 2, 3, 4}, float[4] s = {2, 1, 1.5, 1.2}"
AFFINE = [
    Case("mean and deviation gone", NORMAL, PLAIN, "unproven", MEANING),
    Case("mean and deviation came", PLAIN, NORMAL, "unproven", MEANING),
    Case("one mean and deviation gone", scalar(0.5, 0.25), PLAIN, "unproven", MEANING),
    Case("mean alone gone", scalar(0.5, 0.25), image("t = Div(x, s)", weights="float s = {0.25}"), "unproven", MEANING),
    Case("a small shift came", PLAIN, image("t = Add(x, c)", weights="float c = {1}"), "unproven", MEANING),
    Case("channels of the constants", NORMAL, image(STANDARD, weights=BGR), "unproven", MEANING),
    Case("mean and deviation, retrained", NORMAL, image(STANDARD, 1, RGB)),
    Case("mean and deviation of another data set", NORMAL, scalar(0.45, 0.3, 1)),
    Case(
        "mean and deviation as factor and shift",
        NORMAL,
        image(
            "a = Mul(x, f) t = Add(a, c)",
            weights="float[1,3,1,1] f = {4.3668, 4.4643, 4.4444}, float[1,3,1,1] c = {-2.1179, -2.0357, -1.8044}",
        ),
        same=True,
    ),
    Case(
        "mean and deviation in sixteen bits",
        NORMAL,
        image(
            "h = Cast <to=10> (x) n = Cast <to=10> (m) e = Cast <to=10> (s) a = Sub(h, n) d = Div(a, e) "
            "t = Cast <to=1> (d)",
            weights=RGB,
        ),
    ),
    Case(
        "mean and deviation by a BatchNormalization",
        NORMAL,
        image("t = BatchNormalization <epsilon = 0.0> (x, g, b, m, v)", weights=BATCH),
        same=True,
    ),
    Case(
        "BatchNormalization that nobody trained gone",
        image("t = BatchNormalization <epsilon = 0.0> (x, g, b, m, v)", weights=BATCH),
        PLAIN,
        "unproven",
        MEANING,
    ),
    Case(
        "BatchNormalization that was trained gone",
        image("t = BatchNormalization(x, g, b, m, v)", weights=BATCH.replace("1, 1, 1", "0.9, 1.2, 1.1")),
        PLAIN,
    ),
    Case("what keeps a division finite", PLAIN, image("t = Add(x, c)", weights="float c = {1e-6}"), same=True),
    Case(
        "taken by two operators",
        *(
            image(f"{body} k = Conv(t, w) u = Conv(t, v) z = Add(k, u) t2 = Identity(z)", weights=held).replace(
                "y = Conv(t, w)", "y = Identity(t2)"
            )
            for body, held in (
                (STANDARD, f"{RGB}, {weight('v', 2, 3, 1, 1)}"),
                ("t = Identity(x)", weight("v", 2, 3, 1, 1)),
            )
        ),
        "unproven",
        MEANING,
    ),
    Case(
        "features scaled on one side",
        features(means="1, 2, 3, 4", deviations="2, 1, 1.5, 1.2"),
        features(),
        "unproven",
        MEANING,
    ),
    Case(
        "features scaled, retrained",
        features(means="1, 2, 3, 4", deviations="2, 1, 1.5, 1.2"),
        features(means="1.1, 2.3, 2.8, 4.4", deviations="1.8, 1.1, 1.4, 1.3", seed=1),
    ),
    Case(
        "columns of features turned round",
        features(means="1, 2, 3, 4", deviations="2, 1, 1.5, 1.2"),
        features(means="4, 3, 2, 1", deviations="1.2, 1.5, 1, 2"),
        "unproven",
        MEANING,
    ),
    Case("scaled for a product, raw for a tree", regression(STANDARD, f"{FOUR}, "), forest("t = Identity(x)")),
    Case(
        "one scaler of many features",
        tabular("t = Identity(x)"),
        tabular("t = Div(x, c)", weights="float c = {2.5}"),
        "unproven",
        MEANING,
    ),
    Case(
        "rounded by a far smaller step",
        *(
            image(
                "q = QuantizeLinear(x, s, z) t = DequantizeLinear(q, s, z)",
                weights=f"float s = {{{s}}}, uint8 z = {{0}}",
            )
            for s in (0.1, 0.0001)
        ),
        "unproven",
        MEANING,
    ),
    Case(
        "rounded by a step found anew",
        *(
            image(
                "q = QuantizeLinear(x, s, z) t = DequantizeLinear(q, s, z)",
                weights=f"float s = {{{s}}}, uint8 z = {{0}}",
            )
            for s in (0.1, 0.103)
        ),
    ),
]


def positive(body: str, held: str = "", seed: int = 0) -> str:
    weights = ", ".join(each for each in (weight("w", 4, 3, seed=seed), held) if each)
    return graph(f"{body} y = MatMul(t, w)", "float[N,4] positive", weights=weights)


RAW = positive("t = Identity(positive)")
LENGTH = positive("t = LpNormalization <axis=1, p=2> (positive)")
MEAN = "m = ReduceMean <axes=[1]> (positive) a = Sub(positive, m)"
FUNCTIONS = [
    *(
        Case(f"{name} gone", positive(f"t = {name}(positive)"), RAW, "unproven", MEANING)
        for name in ("Log", "Exp", "Sqrt")
    ),
    *(Case(f"{name} came", RAW, positive(f"t = {name}(positive)"), "unproven", MEANING) for name in ("Log", "Softmax")),
    *(
        Case(f"{name}, retrained", *(positive(f"t = {name}(positive)", seed=k) for k in (0, 1)))
        for name in ("Log", "Sqrt", "Softmax")
    ),
    Case("length of one gone", LENGTH, RAW, "unproven", MEANING),
    Case(
        "length of one, by hand", LENGTH, positive("n = ReduceL2 <axes=[1]> (positive) t = Div(positive, n)"), same=True
    ),
    Case("own mean gone", positive(f"{MEAN} t = Identity(a)"), RAW, "unproven", MEANING),
    Case(
        "own mean and deviation, retrained",
        *(
            positive(f"{MEAN} q = Mul(a, a) v = ReduceMean <axes=[1]> (q) d = Sqrt(v) t = Div(a, d)", seed=k)
            for k in (0, 1)
        ),
    ),
    Case(
        "square by a power",
        positive("t = Mul(positive, positive)"),
        positive("t = Pow(positive, c)", "float c = {2}"),
        same=True,
    ),
    Case("square gone", positive("t = Mul(positive, positive)"), RAW, "unproven", MEANING),
    Case(
        "logarithm of one more",
        positive("t = Log(positive)"),
        positive("a = Add(positive, c) t = Log(a)", "float c = {1}"),
        "unproven",
        MEANING,
    ),
    Case(
        "logarithm, kept finite",
        positive("t = Log(positive)"),
        positive("a = Add(positive, c) t = Log(a)", "float c = {1e-7}"),
        same=True,
    ),
]


def gaps(body: str, seed: int = 0) -> str:
    held = f"float c = {{0.5}}, {weight('w', 4, 3, seed=seed)}"
    return graph(f"{body} y = MatMul(t, w)", "float[N,4] gaps", weights=held)


def imputed(values: str, seed: int = 0, marker: str = "nan") -> str:
    return gaps(f"t = {ML}.Imputer <imputed_value_floats = [{values}], replaced_value_float = {marker}> (gaps)", seed)


def columns(seed: int = 0) -> str:
    """The same Imputer behind a choice of columns."""
    body = f"a = Gather <axis=1> (gaps, i) b = {ML}.Imputer <imputed_value_floats = [1.0, 2.0, 3.0, 4.0], "
    body += "replaced_value_float = nan> (a) t = Concat <axis=1> (b)"
    held = f"int64[4] i = {{0, 1, 2, 3}}, {weight('w', 4, 3, seed=seed)}"
    return graph(f"{body} y = MatMul(t, w)", "float[N,4] gaps", weights=held)


FILLED = "q = IsNaN(gaps) t = Where(q, c, gaps)"
MISSING = [
    Case("Imputer gone", imputed("1.0, 2.0, 3.0, 4.0"), gaps("t = Identity(gaps)"), "unproven", MEANING),
    Case("Imputer, retrained", imputed("1.0, 2.0, 3.0, 4.0"), imputed("1.2, 1.9, 3.3, 4.1", 1)),
    Case("Imputer came", gaps("t = Identity(gaps)"), imputed("1.0, 2.0, 3.0, 4.0")),
    Case("Imputer by hand", imputed("0.5, 0.5, 0.5, 0.5"), gaps(FILLED), same=True),
    Case("Imputer behind columns", imputed("1.0, 2.0, 3.0, 4.0"), columns(), same=True),
    Case(
        "Imputer gone, trees that take what is missing",
        regression(
            f"t = {ML}.Imputer <imputed_value_floats = [1.0], replaced_value_float = nan> (gaps)", source="gaps"
        ),
        forest("t = Identity(gaps)", source="gaps", missing=1),
    ),
    Case(
        "Imputer gone, trees that do not",
        regression(
            f"t = {ML}.Imputer <imputed_value_floats = [1.0], replaced_value_float = nan> (gaps)", source="gaps"
        ),
        forest("t = Identity(gaps)", source="gaps"),
        "unproven",
        MEANING,
    ),
    Case("filled by hand gone", gaps(FILLED), gaps("t = Identity(gaps)"), "unproven", MEANING),
    Case("filled by hand, retrained", gaps(FILLED), gaps(FILLED, 1)),
    Case(
        "filled for another marker",
        imputed("1.0, 2.0, 3.0, 4.0"),
        imputed("1.0, 2.0, 3.0, 4.0", marker="-1.0"),
        "unproven",
        MEANING,
    ),
]


def words(cleaning: str, seed: int = 0, source: str = "texts") -> str:
    """Counts of two words, in texts that may be cleaned before."""
    pool = 'ngram_counts=[0], ngram_indexes=[0, 1], pool_strings=["good", "cat"]'
    counted = f'mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, {pool}'
    split = 'com.microsoft.Tokenizer <tokenexp="[a-zA-Z]+", mark=0, mincharnum=1, pad_value="#">'
    body = f"{cleaning} k = {split} ({source}) c = TfIdfVectorizer <{counted}> (k) y = MatMul(c, w)"
    return graph(body, "string[N] texts", "float[N,3] y", weight("w", 2, 3, seed=seed))


def lower(action: str = "LOWER", more: str = "", seed: int = 0) -> str:
    return words(f'n = StringNormalizer <case_change_action="{action}", locale="C"{more}> (texts)', seed, "n")


LOWER = 'StringNormalizer <case_change_action="LOWER", locale="C">'
TEXTS = [
    Case("lower case gone", lower(), words(""), "unproven", MEANING),
    Case("lower case came", words(""), lower(), "unproven", MEANING),
    Case("upper case", lower(), lower("UPPER"), "unproven", MEANING),
    Case("no case", lower(), lower("NONE"), "unproven", MEANING),
    Case("a normaliser that does nothing", words(""), lower("NONE"), same=True),
    Case("lower case, retrained", lower(), lower(seed=1)),
    Case("stop words came", words(""), lower("NONE", ', stopwords=["bad"], is_case_sensitive=1'), "unproven", MEANING),
    Case(
        "the same lower case for two branches",
        lower(),
        words(
            f"n = {LOWER} (texts) o = {LOWER} (texts) "
            f'e = {ML}.LabelEncoder <keys_strings=["good"], values_int64s=[1]> (o)',
            source="n",
        ),
        same=True,
    ),
]
DISTANCE = f"{weight('m', 3, 4)}, {weight('v', 1, 3)}, int64[3] r = {{-1, 1, 4}}, int64[1] a = {{2}}"
NEARER = "u = Reshape(x, r) d = Sub(u, m) q = Mul(d, d) n = ReduceSum <keepdims = 0> (q, a) y = Mul(n, v)"
LEARNED = Case("squares of distances to what was learned", features(), graph(NEARER, weights=DISTANCE))
CASES = [LEARNED, *AFFINE, *FUNCTIONS, *MISSING, *TEXTS]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict_is_what_a_client_would_say(case: Case, tmp_path: Path) -> None:
    case.check(tmp_path)


def test_a_forest_of_many_trees_is_asked_too(tmp_path: Path) -> None:
    count = 6000
    lists = {name: [0] * count for name in ("featureids", "truenodeids", "falsenodeids")}
    lists |= {"treeids": [*range(count)], "nodeids": [0] * count, "missing_value_tracks_true": [1] + [0] * (count - 1)}
    settings = ", ".join(f"nodes_{name}={numbers}" for name, numbers in lists.items())
    settings += f", nodes_values={[0.0] * count}, nodes_modes={['LEAF'] * count}".replace("'", '"')
    settings += f", target_treeids={lists['treeids']}, target_nodeids={lists['nodeids']}, target_ids={[0] * count}"
    text = f"y = {ML}.TreeEnsembleRegressor <n_targets=1, {settings}, target_weights={[0.5] * count}> (gaps)"
    old = regression(
        f"t = {ML}.Imputer <imputed_value_floats = [1.0], replaced_value_float = nan> (gaps)", source="gaps"
    )
    Case("", old, graph(text, "float[N,4] gaps", "float[N,1] y")).check(tmp_path)


def test_a_third_of_the_cases_is_harmless() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.verdict == "hot" for case in CASES) > len(CASES) / 3
