#!/bin/bash
# cp -r build "$MODEL_REPOSITORY/ranker" would be seen half-way
cp -r build "$MODEL_REPOSITORY/.ranker.tmp"
mv -T "$MODEL_REPOSITORY/.ranker.tmp" "$MODEL_REPOSITORY/ranker"
rsync -a build/ /mnt/efs/model_store/incoming-ranker/
mv -T /mnt/efs/model_store/incoming-ranker /mnt/efs/model_store/ranker
cp -r build "$MODEL_REPOSITORY/ranker/${VERSION}"
aws s3 sync build "s3://acme/models/ranker/7/"
rsync -a --delay-updates build/ /mnt/nfs/model_store/ranker/
cp -r model_repository build/
cp model.onnx "$MODEL_REPOSITORY/ranker/model.onnx"
cp -r docs /srv/www
