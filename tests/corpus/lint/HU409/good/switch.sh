#!/bin/sh
ln -s "/srv/models/$VERSION" /srv/models/current.tmp
mv -T /srv/models/current.tmp /srv/models/current
ln -sfn /srv/models/7 /srv/models/live
rm -f /usr/local/bin/current
ln -s /opt/tool/bin/tool /usr/local/bin/current
