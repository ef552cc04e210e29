#!/bin/sh
cp -r build /srv/model_store/.ranker
mv -T /srv/model_store/.ranker /srv/model_store/ranker
mv /tmp/a /tmp/b
mv /tmp/report.html /srv/www/report.html
