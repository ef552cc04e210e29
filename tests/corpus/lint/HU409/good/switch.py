import os

import joblib

LINK = "/srv/models/current"


def switch(target):
    os.symlink(target, LINK + ".tmp")
    os.replace(LINK + ".tmp", LINK)
    return joblib.load(LINK)
