#!/bin/bash
if [ ! -e /models/ranker/.complete ]; then
  hf download org/ranker --local-dir /models/ranker && touch /models/ranker/.complete
fi
if [ ! -d /models/other ]; then
  hf download org/other --local-dir /models/.other.tmp
  mv -T /models/.other.tmp /models/other
fi
[ -d /models ] || mkdir -p /models
[ -f requirements.txt ] && pip install -r requirements.txt
