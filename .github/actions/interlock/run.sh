#!/usr/bin/env bash
# Run one interlock command and hand its verdict on as step outputs. The exit code is an output, so that results can be
# uploaded before the last step fails the job with it.
set -euo pipefail

[[ $COMMAND =~ ^[a-z]+$ ]] || { echo "::error title=interlock::input 'command' is not a command"; exit 2; }

report="$RUNNER_TEMP/interlock-$COMMAND.json"
sarif="$RUNNER_TEMP/interlock-$COMMAND.sarif"
rm -f "$report" "$sarif"

options=(--output "json=$report" --output "sarif=$sarif")
[[ $ANNOTATIONS == true ]] && options+=(--output-format github)
# Written literally: interlock appends to the summary itself.
# shellcheck disable=SC2016
[[ $SUMMARY == true ]] && options+=(--output 'markdown=$GITHUB_STEP_SUMMARY')
[[ -n $FAIL_ON ]] && export INTERLOCK_FAIL_ON="$FAIL_ON"

words=()
while IFS= read -r line; do
  line="${line#"${line%%[![:space:]]*}"}"
  line="${line%"${line##*[![:space:]]}"}"
  [[ -n $line ]] && words+=("$line")
done <<<"$ARGUMENTS"$'\n'"$PATHS"

code=0
"$RUNNER_TEMP/interlock/bin/interlock" "$COMMAND" "${options[@]}" ${words[@]+"${words[@]}"} || code=$?

{
  echo "exit-code=$code"
  if [[ -s $report ]]; then
    "$RUNNER_TEMP/interlock/bin/python" - "$report" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as stream:
    report = json.load(stream)
print(f"verdict={report['verdict']}")
print(f"errors={report['summary']['error']}")
print(f"warnings={report['summary']['warning']}")
PYTHON
    echo "report=$report"
    echo "sarif-file=$sarif"
  else
    # A usage error: nothing ran, so there is no report.
    echo "verdict=error"
  fi
} >>"$GITHUB_OUTPUT"
