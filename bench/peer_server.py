#!/usr/bin/env python3
"""The server that people write for themselves: FastAPI in front of transformers or ONNX Runtime. One request at a time
is computed, its texts padded to the longest; /predict answers as text-embeddings-inference does.

usage: peer_server.py transformers|onnxruntime MODEL PORT [THREADS]
It needs torch, transformers 4.57, fastapi, uvicorn; onnxruntime and onnx."""

import pathlib
import sys
import tempfile
import threading

import numpy
import torch
import transformers
import uvicorn
from fastapi import FastAPI, Request


def with_transformers(folder, threads):
    torch.set_num_threads(threads)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()

    def logits(ids, mask):
        with torch.inference_mode():
            return model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).logits.numpy()

    return logits


def with_onnxruntime(folder, threads):
    import onnxruntime

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).logits

    path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    axes = {0: "texts", 1: "tokens"}
    example = torch.ones(2, 16, dtype=torch.int64)
    torch.onnx.export(
        Logits(),
        (example, example),
        str(path),
        input_names=["ids", "mask"],
        output_names=["logits"],
        dynamic_axes={"ids": axes, "mask": axes},
        opset_version=17,
        dynamo=False,
    )
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0]


def main():
    engine, folder, port, threads = (
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        int(sys.argv[4]) if len(sys.argv) > 4 else 2,
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    logits = {"transformers": with_transformers, "onnxruntime": with_onnxruntime}[engine](folder, threads)
    names = transformers.AutoConfig.from_pretrained(folder).id2label
    one_at_a_time, app = threading.Lock(), FastAPI()

    def answer(texts):
        given = tokenizer(texts, padding=True, truncation=True, max_length=512, return_tensors="np")
        with one_at_a_time:
            found = logits(given["input_ids"].astype(numpy.int64), given["attention_mask"].astype(numpy.int64))
        shares = numpy.exp(found - found.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        return [
            sorted(
                ({"label": names[i], "score": float(score)} for i, score in enumerate(row)),
                key=lambda one: -one["score"],
            )
            for row in shares
        ]

    @app.post("/predict")
    async def predict(request: Request):
        from fastapi.concurrency import run_in_threadpool

        inputs = (await request.json())["inputs"]
        return await run_in_threadpool(answer, [one[0] if isinstance(one, list) else one for one in inputs])

    print(f"http://127.0.0.1:{port} serves {engine}", flush=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main()
