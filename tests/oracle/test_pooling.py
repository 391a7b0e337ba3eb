"""`finetune --pooling`: 20 steps beside transformers' encoder with a pooling of all tokens written here, and
torch.optim.AdamW; without dropout, in fp32. And what transformers makes of the files."""

import json

import pytest
import torch
import transformers

import test_finetune_steps as steps

pytestmark = steps.pytestmark
base, rows = steps.base, steps.rows
POOLINGS = ["mean", "max", "attention"]


class Pooled(torch.nn.Module):
    """transformers' classifier, whose pooler reads what is pooled of all tokens in the place of the first one's
    state."""

    def __init__(self, model, pooling):
        super().__init__()
        self.model, self.pooling = model, pooling
        self.query = torch.nn.Parameter(torch.zeros(model.config.hidden_size)) if pooling == "attention" else None

    def pool(self, hidden, mask):
        if self.pooling == "mean":
            return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        hidden_from = hidden.masked_fill(mask[..., None] == 0, -torch.inf)
        if self.pooling == "max":
            return hidden_from.max(1).values
        weights = (hidden @ self.query).masked_fill(mask == 0, -torch.inf).softmax(1)
        return (weights[..., None] * hidden).sum(1)

    def forward(self, input_ids, attention_mask, labels):
        hidden = self.model.deberta(input_ids, attention_mask).last_hidden_state
        pooled = self.pool(hidden, attention_mask)
        logits = self.model.classifier(self.model.pooler(pooled[:, None]))
        return transformers.modeling_outputs.SequenceClassifierOutput(
            loss=torch.nn.functional.cross_entropy(logits, labels), logits=logits
        )


@pytest.fixture(scope="module")
def bases(base, rows, tmp_path_factory):
    """{pooling: the model to begin with, whose head is one that the program made}"""
    folders = {}
    for pooling in POOLINGS:
        folders[pooling] = tmp_path_factory.mktemp("bases") / pooling
        steps.run(
            "finetune",
            "--task",
            "classification",
            "-m",
            base,
            "--train-file",
            rows,
            "-o",
            folders[pooling],
            "--pooling",
            pooling,
            "--max-steps",
            "1",
            "--learning-rate",
            "0",
            "--dtype",
            "fp32",
            "--save-steps",
            "0",
        )
    return folders


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_losses_are_those_of_torch(bases, rows, tmp_path, pooling):
    ours = steps.losses_of_program(bases[pooling], rows, tmp_path / "out", "--head-learning-rate", steps.HEAD_RATE)
    for other in POOLINGS:
        theirs = steps.losses_of(Pooled(steps.load(bases[pooling]), other), bases[pooling], rows, steps.HEAD_RATE, 1)
        assert (
            (steps.difference(ours, theirs) <= steps.TOLERANCE)
            if other == pooling
            else (steps.difference(ours, theirs) > 100 * steps.TOLERANCE)
        ), other


def test_transformers_refuses_the_files(bases):
    for folder in bases.values():
        assert json.loads((folder / "config.json").read_text())["model_type"] == "deberta-v2-pooled"
        for auto in transformers.AutoConfig, transformers.AutoModelForSequenceClassification, transformers.AutoModel:
            with pytest.raises(ValueError, match="deberta-v2-pooled"):
                auto.from_pretrained(folder)
