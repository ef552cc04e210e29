#!/bin/bash
MODEL_DIR=/models/ranker
if [ ! -d "$MODEL_DIR" ]; then
  mkdir -p "$MODEL_DIR"
  huggingface-cli download org/ranker --local-dir "$MODEL_DIR"
fi
[ -z "$(ls -A /weights)" ] && aws s3 sync s3://acme/weights /weights
exec vllm serve "$MODEL_DIR"
