"""Evaluate the reader on the part that nobody trained on, and write two sections of ``bench/claims.md``.

Claims by source and by kind, calibration, bias checks, words against reader against both; questions by answerability and span;
HotpotQA and MuSiQue as corpora that no question was trained on. Every figure of a row uses the same pairs. What rules and reader
said of each claim is kept in ``bench/claims_rows.jsonl.gz``, without the texts. ``python -m bench.claims`` runs this and the rest.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy
from fit import FACT_CHECKING, PARAPHRASED, Limits, apply_rules, decide, measure, select
from held import Question, load_part

sys.path[:0] = [str(Path(__file__).parents[2])]
from bench.claims_model import write_rows  # noqa: E402
from suffice.claims.checkers.base import load_thresholds  # noqa: E402

from bench.claims import KEPT_ROWS, write_section  # noqa: E402
from bench.corruptions import flip_negation  # noqa: E402
from suffice.models.reader import get_reader  # noqa: E402
from suffice.text.entities import content_stems  # noqa: E402

CORPORA = ("hotpotqa", "musique", "musique, single hops")
DOMAINS = {
    "science and medicine": "scifact_train check_covid citation_integrity clinifact scitldr cochrane_simplification pubmedqa covid_qa "
    "evidence_inference scitail qasc entailmentbank",
    "encyclopaedia": "fever feverous fm2 wice clapnq quotesum swipe wikisplit passage_edits squad squadshifts_wiki nq_oracle boolq "
    "condaqa strategyqa re_docred fewrel te_protocols semi_auto_nli paws ares_synthetic generated",
    "news, meetings, reviews": "defacto summedits realsumm_scu factcg_cg2c_doc factor qmsum squadshifts_amazon squadshifts_reddit fairytaleqa",
    "single sentences": "mnli snli cad_nli negation_nli med",
}
DOMAIN_OF = {source: domain for domain, sources in DOMAINS.items() for source in sources.split()}
KINDS = {
    "number": r"(?:^|-)number\b|number changed",
    "negation": r"negat|contradiction",
    "entity": r"entity|name swapped|-wrong|-pool|-ev$",
    "relation": r"relation|relword|antonym|roleswap|-swap",
    "over-generalisation": r"overgeneral",
    "missing information": r"dropped|removed|neighbour|citation moved|-tail|-head|-chunk|-half",
}
TIME = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2}|January|February|March|April|June|July|August|September|October|November|December)\b"
)


def balanced(passed: numpy.ndarray, true: numpy.ndarray) -> float:
    return float((passed[true].mean() + (~passed[~true]).mean()) / 2) if true.any() and (~true).any() else float("nan")


def area(scores: numpy.ndarray, true: numpy.ndarray) -> float:
    """Area under the ROC curve: how often a true row has the higher score."""
    differences = scores[true][:, None] - scores[~true][None, :]
    return float(((differences > 0) + 0.5 * (differences == 0)).mean()) if differences.size else float("nan")


def kind_of(row: dict) -> str:
    if row["label"] == "supported":
        return "paraphrase" if row["source"] in PARAPHRASED else ""
    found = next((kind for kind, pattern in KINDS.items() if re.search(pattern, row["kind"])), "")
    return "time" if found == "number" and TIME.search(row["text"]) else found


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def show(value: object) -> str:
        return ("–" if numpy.isnan(value) else f"{value:.2f}") if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(show, row)) + " |" for row in rows)])


# -- claims ------------------------------------------------------------------------------------------------------------


def describe_claims(rows: list[dict]) -> str:
    stored = load_thresholds()
    limits = Limits(*(getattr(stored, f"reader_{name}") for name in Limits._fields))
    true = numpy.array([row["label"] == "supported" for row in rows])
    probability = numpy.array([row["probabilities"][0] for row in rows])
    words = numpy.array([row["lexical"] == "supports" for row in rows])
    both = decide(rows, limits) == 1
    checkers = {"words": words, "reader at .5": probability >= 0.5, "both": both}

    def columns(chosen: numpy.ndarray) -> list[float]:
        return [balanced(passed[chosen], true[chosen]) for passed in checkers.values()]

    def compare(names: Sequence[str], of: Callable[[dict], str]) -> list[list]:
        parts = [(name, numpy.array([of(row) == name for row in rows])) for name in names]
        return [[name, int(chosen.sum()), *columns(chosen)] for name, chosen in parts if chosen.any()]

    text = [
        f"{len(rows)} claims of the test part: {Counter(row['source'] for row in rows).most_common()[-20][1]} of most sources, up to "
        f"{max(Counter(row['source'] for row in rows).values())} of the fact-verification sets.\n"
    ]
    text += [
        "Balanced accuracy of supported against not supported. `both` is the product: rules settle and veto, the reader decides the rest,"
    ]
    text += [
        f"with the thresholds {limits.supports}, {limits.confirms} where words agree, {limits.despite_name} where a name is missing, {limits.despite_difference} where a sentence is repeated with a difference.\n"
    ]
    whole = numpy.ones(len(rows), bool)
    facts = numpy.array([row["source"] in FACT_CHECKING for row in rows])
    general = [["all", len(rows), *columns(whole)], ["fact-verification sets", int(facts.sum()), *columns(facts)]]
    text += [
        table(["", "pairs", *checkers], general + compare(list(DOMAINS), lambda row: DOMAIN_OF.get(row["source"], ""))),
        "",
    ]
    written = numpy.array([row["source"] in PARAPHRASED for row in rows])
    passes = [
        [name, *(float(passed[part].mean()) for part in (true, ~true, written & true, written & ~true))]
        for name, passed in checkers.items()
    ]
    text += [
        table(
            [
                "checker",
                "true claims passed",
                "false passed",
                "people's paraphrases passed",
                "false versions of them passed",
            ],
            passes,
        ),
        "",
    ]
    kinds = Counter(filter(None, map(kind_of, rows)))
    parts = []
    for kind in (
        "paraphrase",
        "number",
        "time",
        "negation",
        "entity",
        "relation",
        "over-generalisation",
        "missing information",
    ):
        chosen = numpy.array([kind_of(row) == kind for row in rows])
        if kinds[kind]:
            parts.append(
                [
                    kind,
                    kinds[kind],
                    *(float((passed[chosen] == (kind == "paraphrase")).mean()) for passed in checkers.values()),
                ]
            )
    text += [
        "Accuracy by kind: paraphrases should pass, all others should not.\n",
        table(["kind", "pairs", *checkers], parts),
        "",
    ]
    text += [
        "By source:\n",
        table(
            ["source", "pairs", *checkers], compare(sorted({row["source"] for row in rows}), lambda row: row["source"])
        ),
        "",
    ]
    text += [describe_calibration(probability, true), describe_biases(rows, true, probability)]
    settled = numpy.array([row["settled"] for row in rows])
    text += [f"Rules settle {settled.mean():.0%} of these pairs before the reader is asked.\n"]
    return "\n".join(text)


def describe_calibration(probability: numpy.ndarray, true: numpy.ndarray) -> str:
    edges = numpy.linspace(0, 1, 11)
    places = numpy.clip(numpy.digitize(probability, edges) - 1, 0, 9)
    rows = [
        [
            f"{edges[i]:.1f}–{edges[i + 1]:.1f}",
            int((places == i).sum()),
            float(probability[places == i].mean()),
            float(true[places == i].mean()),
        ]
        for i in range(10)
        if (places == i).any()
    ]
    error = sum(row[1] * abs(row[2] - row[3]) for row in rows) / len(true)
    head = f"Reliability of P(supported), temperature fitted on the development part; expected calibration error {error:.3f}.\n\n"
    return head + table(["P(supported)", "pairs", "mean", "truly supported"], rows) + "\n"


def describe_biases(rows: list[dict], true: numpy.ndarray, probability: numpy.ndarray) -> str:
    chosen = [i for i, row in enumerate(rows) if "claim_only" in row]
    alone = numpy.array([rows[i]["claim_only"] for i in chosen])
    flipped = [row for row in rows if "negated" in row and row["probabilities"][0] >= 0.5]
    shares = numpy.array(
        [
            len(content_stems(row["text"]) & content_stems(row["passage"])) / max(1, len(content_stems(row["text"])))
            for row in rows
        ]
    )
    matched = []
    for low, high in ((0, 0.4), (0.4, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (shares >= low) & (shares < high)
        matched.append((int(inside.sum()), balanced(probability[inside] >= 0.5, true[inside])))
    mean = sum(count * value for count, value in matched if value == value) / sum(
        count for count, value in matched if value == value
    )
    result = [
        ["claim alone, no passage: AUC (.50 is no give-away)", len(chosen), area(alone, true[chosen])],
        ["the same pairs with their passage: AUC", len(chosen), area(probability[chosen], true[chosen])],
        [
            "supported claim with a negation put in: no longer passed",
            len(flipped),
            float(numpy.mean([row["negated"] < 0.5 for row in flipped])),
        ],
        ["pairs with the same share of the claim's words (four bins): balanced accuracy", len(rows), mean],
    ]
    return "Bias checks of the reader alone:\n\n" + table(["check", "pairs", "value"], result) + "\n"


def measure_claims(claims: list) -> list[dict]:
    reader, rows = get_reader(), []
    for number, claim in enumerate(claims):
        row = measure(claim)
        if number % 3 == 0:
            row["claim_only"] = float(reader.judge([(claim.text, "")])[0, 0])
        if number % 2 == 0 and claim.label == "supported" and (changed := flip_negation(claim.text)) != claim.text:
            row["negated"] = float(reader.judge([(changed, claim.passage)])[0, 0])
        rows.append(row)
    return rows


# -- questions ---------------------------------------------------------------------------------------------------------


def normalise(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in ("a", "an", "the")]


def score_span(found: str, wanted: Sequence[str]) -> tuple[float, float]:
    """Return exact match and word F1 with the best wanted answer."""
    best = (0.0, 0.0)
    for answer in wanted:
        ours, theirs = normalise(found), normalise(answer)
        common = sum((Counter(ours) & Counter(theirs)).values())
        best = max(best, (float(ours == theirs), 2 * common / max(1, len(ours) + len(theirs))))
    return best


def measure_questions(questions: list[Question]) -> list[dict]:
    rows = []
    for question in questions:
        [answer] = get_reader().read(question.text, [question.passage])
        row = {
            "source": question.source,
            "kind": question.kind,
            "answerable": question.answerable,
            "probability": answer.probability,
        }
        if question.spans:
            wanted = [question.passage[start:end] for start, end in question.spans]
            row["exact"], row["f1"] = score_span(question.passage[answer.start : answer.end], wanted)
        rows.append(row)
    return rows


def measure_corpus(folder: Path, count: int, hops: bool = False) -> list[dict]:
    """Ask questions of the passage that has the answer, and of the three passages beside it that share most words with the question.

    With ``hops``, the single questions that a MuSiQue question is made of are asked, where they are whole questions.
    """
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    places = {passage["id"]: number for number, passage in enumerate(passages)}
    rows = []
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        asked = [(row["question"], [row["answer"], *row["aliases"]], row["gold"])]
        if hops:
            whole = (hop for hop in row["hops"] if hop["question"].endswith("?") and "#" not in hop["question"])
            asked = [(hop["question"], [hop["answer"]], [hop["passage"]]) for hop in whole]
        for question, answers, gold in asked:
            rows += _measure_question(folder.name + (", single hops" * hops), passages, places, question, answers, gold)
        if len(rows) >= 4 * count:
            break
    return rows


def _measure_question(
    name: str, passages: list[dict], places: dict[str, int], question: str, answers: list[str], gold: list[str]
) -> list[dict]:
    having = [places[one] for one in gold if any(answer in passages[places[one]]["text"] for answer in answers)]
    if not having or answers[0] in ("yes", "no"):
        return []
    wanted = content_stems(question)
    beside = range(max(0, having[0] - 20), min(len(passages), having[0] + 20))
    near = [n for n in beside if passages[n]["id"] not in gold]
    near = [n for n in near if not any(answer.lower() in passages[n]["text"].lower() for answer in answers)]
    near.sort(key=lambda n: -len(wanted & content_stems(f"{passages[n]['title']} {passages[n]['text']}")))
    texts = [f"{passages[n]['title']}\n{passages[n]['text']}" for n in [having[-1], *near[:3]]]
    found = get_reader().read(question, texts)
    exact, f1 = score_span(texts[0][found[0].start : found[0].end], answers)
    shared = {"source": name, "exact": exact, "f1": f1}
    return [
        shared | {"answerable": i == 0, "probability": answer.probability, "words": len(wanted & content_stems(text))}
        for i, (answer, text) in enumerate(zip(found, texts, strict=True))
    ]


def describe_questions(rows: list[dict], corpora: list[dict]) -> str:
    def line(name: str, chosen: list[dict]) -> list:
        true = numpy.array([row["answerable"] for row in chosen])
        score = numpy.array([row["probability"] for row in chosen])
        spans = [row for row in chosen if row["answerable"] and "exact" in row]
        exact, f1 = (
            ([float(numpy.mean([row[key] for row in spans])) for key in ("exact", "f1")])
            if spans
            else (float("nan"),) * 2
        )
        return [name, len(chosen), area(score, true), balanced(score >= 0.5, true), exact, f1]

    groups: dict[str, list[dict]] = defaultdict(list)
    for row in rows:
        groups[DOMAIN_OF.get(row["source"], "")].append(row)
    head = ["", "pairs", "answerable: AUC", "balanced", "span exact", "span F1"]
    lines = [line("all of the test part", rows), *(line(name, groups[name]) for name in DOMAINS if groups[name])]
    other = [line(name, chosen) for name in CORPORA if (chosen := [row for row in corpora if row["source"] == name])]
    by_words = [
        f"{name} {area(numpy.array([row['words'] for row in chosen], float), numpy.array([row['answerable'] for row in chosen])):.2f}"
        for name in CORPORA
        if (chosen := [row for row in corpora if row["source"] == name])
    ]
    return "\n".join(
        [
            "The questions of the test part were made by rule from claims; passages without the answer are the most similar ones of the source.",
            "No question of HotpotQA and MuSiQue was trained on. `answerable` is the gold passage that has the answer, against the three of forty",
            "passages beside it that share most words with the question (so counting words does worse than chance). Most of the questions need",
            "two passages; a single hop of MuSiQue needs one.\n",
            table(head, [*lines, *other]),
            "",
            f"AUC by the number of shared words instead: {', '.join(by_words)}.\n" if by_words else "",
        ]
    )


# -- files -------------------------------------------------------------------------------------------------------------


def make_id(row: dict) -> str:
    return hashlib.sha256(f"{row['text']}\0{row['passage']}".encode()).hexdigest()[:12]


def keep_rows(parts: dict[str, list[dict]]) -> None:
    """Write what rules and reader said of each claim, without texts."""
    names = ("source", "kind", "label", "lexical", "settled", "veto")
    write_rows(
        KEPT_ROWS,
        [
            {"id": make_id(row), "part": part}
            | {name: row[name] for name in names}
            | {"probabilities": [round(value, 4) for value in row["probabilities"]]}
            for part, rows in parts.items()
            for row in rows
        ],
    )


def write_pairs(path: Path, rows: list[dict]) -> None:
    write_rows(path, [{"id": make_id(row), "claim": row["text"], "passage": row["passage"]} for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that prepare.py wrote")
    parser.add_argument("--texts", type=Path, help="folder with hotpotqa/ and musique/")
    parser.add_argument("--each", type=int, default=40, help="test claims of each source")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--corpus-questions", type=int, default=100, help="questions of each corpus")
    parser.add_argument(
        "--rows", type=Path, help="file that keeps what was measured; read instead of measuring if it is there"
    )
    parser.add_argument("--pairs", type=Path, help="also write the pairs for bench.claims_model, a .jsonl.gz file")
    given = parser.parse_args()
    if given.rows and given.rows.exists():
        found = json.loads(given.rows.read_text(encoding="utf-8"))
        for row in (*found["claims"], *found["dev"]):  # The rules may have changed; the reader has not.
            row |= apply_rules(row["text"], row["passage"])
    else:
        if given.data is None:
            parser.error("--data is needed: the folder that prepare.py wrote")
        claims, questions = load_part(given.data, "test")
        corpora = []
        if given.texts:
            corpora += measure_corpus(given.texts / "hotpotqa", given.corpus_questions)
            corpora += measure_corpus(given.texts / "musique", given.corpus_questions)
            corpora += measure_corpus(given.texts / "musique", given.corpus_questions, hops=True)
        asked = measure_questions(questions[: given.questions])
        dev = [measure(claim) for claim in select(load_part(given.data, "dev")[0], 22)]
        found = {
            "corpora": corpora,
            "questions": asked,
            "claims": measure_claims(select(claims, given.each)),
            "dev": dev,
        }
        if given.rows:
            given.rows.write_text(json.dumps(found), encoding="utf-8")
    keep_rows({"test": found["claims"], "dev": found["dev"]})
    if given.pairs:
        write_pairs(given.pairs, [*found["claims"], *found["dev"]])
    write_section("held-out claims", describe_claims(found["claims"]))
    write_section("questions", describe_questions(found["questions"], found["corpora"]))


if __name__ == "__main__":
    main()
