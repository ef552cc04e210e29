#!/bin/bash
mount -t efs "$FS":/ /mnt/efs
cp -R -u -p /tmp/model_store /mnt/efs
for file in build/*; do
  cp "$file" "$MODEL_REPOSITORY/ranker/"
done
