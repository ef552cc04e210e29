#!/bin/sh
rm -f /srv/models/current
ln -s /srv/models/7 /srv/models/current
ln -sf "/srv/models/$VERSION" /srv/models/live
