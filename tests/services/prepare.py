"""Prepare the system packages that tests use: installed by apt when run as root on Debian, else printed.

Run by `make test`. A package that cannot be had is named here once; the tests that need it say so when they skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# command that shows the package is there -> Debian package
PACKAGES = {
    "docker-registry": "docker-registry",
    "softhsm2-util": "softhsm2",
    "pkcs11-tool": "opensc",
    "openssl": "openssl",
}


def main() -> int:
    """Install what is missing, or say what to install. Never fails the build: tests decide what they need."""
    missing = sorted({package for command, package in PACKAGES.items() if shutil.which(command) is None})
    if not missing:
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-q", "update"], check=False, env=environment, stdout=subprocess.DEVNULL)
        install = ["apt-get", "-qq", "install", "--yes", "--no-install-recommends", *missing]
        if subprocess.run(install, check=False, env=environment, stdout=subprocess.DEVNULL).returncode == 0:
            return 0
    sys.stderr.write(f"some tests will skip; to run them: apt-get install {' '.join(missing)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
