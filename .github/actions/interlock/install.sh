#!/usr/bin/env bash
# Install interlock into an environment of its own, below the runner's temporary folder.
# VERSION: a release of the package index; empty: the source that this action came with. EXTRAS: comma-separated.
set -euo pipefail

refuse() {
  # The value itself is not printed: it could be a workflow command.
  echo "::error title=interlock::input '$1' is not $2"
  exit 2
}

[[ $EXTRAS =~ ^([a-z0-9]+(,[a-z0-9]+)*)?$ ]] || refuse extras "a comma-separated list of names"
suffix=${EXTRAS:+[$EXTRAS]}

if [[ -n $VERSION ]]; then
  [[ $VERSION =~ ^[0-9]+(\.[0-9]+){1,2}((a|b|rc)[0-9]+)?$ ]] || refuse version "a version such as 0.1.0"
  what=("interlock$suffix==$VERSION")
else
  source=$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)
  # The versions that this source was tested with, without the hashes, which pip cannot apply to a source tree.
  sed -n 's/^\([A-Za-z0-9._-]*==[^\\]*[^\\ ]\) *\\*$/\1/p' "$source/requirements-dev.lock" >"$RUNNER_TEMP/interlock-constraints.txt"
  what=(--constraint "$RUNNER_TEMP/interlock-constraints.txt" "$source$suffix")
fi
home="$RUNNER_TEMP/interlock"
python -m venv "$home"
"$home/bin/python" -m pip install --quiet --disable-pip-version-check "${what[@]}"
"$home/bin/interlock" --version
