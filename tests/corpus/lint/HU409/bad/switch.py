import os

import joblib

LINK = "/srv/models/current"


def switch(target):
    if os.path.islink(LINK):
        os.unlink(LINK)
    os.symlink(target, LINK)
    return joblib.load(LINK)
