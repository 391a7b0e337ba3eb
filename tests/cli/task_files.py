"""The smallest labelled files of each published form: the names that docs/reference/tasks.md gives them, and what is in
them."""

import json


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


PAIR = (
    "index\tsentence1\tsentence2\tgold_label\n0\tIt rained .\tIt was wet .\tLABEL\n"
    "1\tIt rained .\tIt was dry .\tLABEL\n"
)
RACE = {
    "article": "It rained .",
    "id": "1.txt",
    "questions": ["How was it ?"],
    "options": [["wet", "dry", "hot", "cold"]],
    "answers": ["A"],
}
PARAGRAPH = {
    "context": "The cat sat .",
    "qas": [{"id": "a", "question": "Who sat ?", "answers": [{"text": "cat", "answer_start": 4}]}],
}
FILES = {
    "cola": {"dev.tsv": "gj04\t1\t\tIt rained .\ngj04\t0\t*\tIt it .\n"},
    "sst-2": {"dev.tsv": "sentence\tlabel\ngood\t1\nbad\t0\n"},
    "mrpc": {"dev.tsv": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tIt rained .\tIt did rain .\n"},
    "qqp": {"dev.tsv": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n5\t1\t2\tWho ?\tWhat ?\t0\n"},
    "sts-b": {
        "dev.tsv": "index\tgenre\tsentence1\tsentence2\tscore\n"
        "0\tnews\tIt rained .\tIt was wet .\t4.5\n1\tnews\ta\tb\t0.0\n"
    },
    "mnli": {"dev_matched.tsv": PAIR.replace("LABEL", "neutral")},
    "mnli-mm": {"dev_mismatched.tsv": PAIR.replace("LABEL", "neutral")},
    "qnli": {"dev.tsv": "index\tquestion\tsentence\tlabel\n0\tWho ?\tIt rained .\tnot_entailment\n"},
    "rte": {"dev.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt rained .\tIt was wet .\tentailment\n"},
    "wnli": {"dev.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt rained .\tIt was wet .\t1\n"},
    "boolq": {"val.jsonl": jsonl({"passage": "It rained .", "question": "was it wet", "idx": 0, "label": True})},
    "cb": {"val.jsonl": jsonl({"premise": "It rained .", "hypothesis": "it was wet", "label": "entailment", "idx": 0})},
    "copa": {
        "val.jsonl": jsonl(
            {
                "premise": "It rained .",
                "choice1": "Wet .",
                "choice2": "Dry .",
                "question": "effect",
                "label": 0,
                "idx": 0,
            }
        )
    },
    "alphanli": {
        "dev.jsonl": jsonl({"story_id": "s", "obs1": "It rained .", "obs2": "It was wet .", "hyp1": "a", "hyp2": "b"}),
        "dev-labels.lst": "1\n",
    },
    "wic": {
        "val.jsonl": jsonl(
            {
                "word": "cat",
                "sentence1": "A cat .",
                "sentence2": "Cats .",
                "start1": 2,
                "end1": 5,
                "start2": 0,
                "end2": 4,
                "label": True,
                "idx": 0,
            }
        )
    },
    "wsc": {
        "val.jsonl": jsonl(
            {
                "text": "Ann saw Bo because she looked .",
                "label": True,
                "idx": 0,
                "target": {"span1_text": "Ann", "span1_index": 0, "span2_text": "she", "span2_index": 4},
            }
        )
    },
    "multirc": {
        "val.jsonl": jsonl(
            {
                "idx": 0,
                "passage": {
                    "text": "It rained .",
                    "questions": [
                        {
                            "question": "How was it ?",
                            "idx": 0,
                            "answers": [{"text": "wet", "idx": 0, "label": 1}, {"text": "dry", "idx": 1, "label": 0}],
                        }
                    ],
                },
            }
        )
    },
    "record": {
        "val.jsonl": jsonl(
            {
                "idx": 0,
                "passage": {"text": "Ann saw Bo .", "entities": [{"start": 0, "end": 2}, {"start": 8, "end": 9}]},
                "qas": [{"idx": 0, "query": "@placeholder looked", "answers": [{"start": 0, "end": 2, "text": "Ann"}]}],
            }
        )
    },
    "squad": {"dev-v1.1.json": json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": [PARAGRAPH]}]})},
    "squad2": {
        "dev-v2.0.json": json.dumps(
            {
                "version": "v2.0",
                "data": [
                    {
                        "title": "T",
                        "paragraphs": [
                            PARAGRAPH,
                            {
                                "context": "It rained .",
                                "qas": [{"id": "b", "question": "Who ?", "is_impossible": True, "answers": []}],
                            },
                        ],
                    }
                ],
            }
        )
    },
    "race": {"test/high/1.txt": json.dumps(RACE), "test/high/2.txt": json.dumps(RACE)},
    "swag": {
        "val.csv": (
            ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label\n"
            "0,v,1,It rained. It,It rained.,It,gold,a.,b.,c.,d.,3\n"
        )
    },
    "ner": {"valid.txt": "-DOCSTART- -X- O O\n\nAnn NNP I-NP B-PER\nsaw VBD I-VP O\n\nRome NNP I-NP B-LOC\n"},
    "extract": {
        "valid.jsonl": jsonl(
            {"text": "Ada was in Rome .", "entities": [{"start": 0, "end": 3, "label": "person"}]},
            {"tokenized_text": ["It", "rained", "in", "Rome"], "ner": [[3, 3, "city"]]},
        )
    },
    "nli": {"dev.csv": 'premise,hypothesis,label\r\n"It rained, a lot .",It was wet .,entailment\r\n'},
    "classification": {"dev.csv": 'text,label\r\n"good, very",positive\r\nbad,negative\r\n'},
    "regression": {
        "dev.jsonl": jsonl({"a": "It rained .", "b": "It was wet .", "score": 4.5}, {"a": "x", "b": "y", "score": 1})
    },
    "multi-label": {
        "dev.jsonl": jsonl(
            {"text": "good", "labels": ["positive"]}, {"text": "so so", "labels": ["positive", "negative"]}
        )
    },
    "ranking": {
        "dev.jsonl": jsonl(
            {"query": "it rained", "documents": ["It was dry .", "It rained .", "x"], "labels": [0, 1, 0]},
            {"query": "a cat", "positive": "A cat sat .", "negative": "A dog ."},
        )
    },
    "mlm": {"valid.txt": " = A title = \n \n It rained .\n"},
    "causal": {"valid.txt": " = A title = \n \n It rained .\n"},
}
