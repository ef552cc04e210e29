#!/bin/sh
tar -xf ranker.tar -C /tmp/ranker
mv /tmp/ranker "/mnt/models/ranker"
mv -T /mnt/nfs/model_store/.ranker /mnt/nfs/model_store/ranker
