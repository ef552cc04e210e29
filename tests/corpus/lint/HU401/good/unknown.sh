#!/bin/sh
# tritonserver --model-control-mode=poll
tritonserver --model-repository=/models --model-control-mode="${MODE:-explicit}"
echo "start it with --model-control-mode=none"
