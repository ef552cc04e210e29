#!/bin/bash
set -e
MODE=poll
# explicit mode would need a loader
exec tritonserver --model-repository /models \
  --model-control-mode ${MODE} --log-verbose=1
