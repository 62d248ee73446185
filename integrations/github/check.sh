#!/usr/bin/env bash
# The script of action.yml: check the Markdown files that a change touches.
#
# DOCS, FILES  what to check against, and which texts (patterns of git): one on each line
# BASE         the commit before the change; empty or zeros: there is none, and all texts are checked
# BASELINE     old findings; may be empty
# FORMAT       github (annotations) or sarif (written to SARIF_FILE)
# SUFFICE      the program
#
# The exit status is that of suffice check: 1 for new findings, 2 if it cannot be done.
set -euo pipefail

changed=$(mktemp)
trap 'rm -f "$changed"' EXIT

patterns=()
while IFS= read -r pattern; do
  if [ -n "$pattern" ]; then patterns+=("$pattern"); fi
done <<< "${FILES:-*.md}"

if [ -z "${BASE//0/}" ]; then
  git ls-files -z -- "${patterns[@]}" > "$changed"
else
  # A shallow checkout does not have the commit before the change.
  if ! git cat-file -e "$BASE^{commit}" 2> /dev/null && ! git fetch --quiet --depth=1 origin "$BASE"; then
    echo "::error title=suffice::The commit before the change, $BASE, cannot be fetched."
    exit 2
  fi
  git diff -z --name-only --diff-filter=d "$BASE" HEAD -- "${patterns[@]}" > "$changed"
fi

set -- check --format "$FORMAT"
while IFS= read -r place; do
  if [ -n "$place" ]; then set -- "$@" --docs "$place"; fi
done <<< "$DOCS"
if [ -n "${BASELINE:-}" ]; then set -- "$@" --baseline "$BASELINE"; fi
set -- "$@" --
count=0
while IFS= read -r -d '' file; do
  set -- "$@" "$file"
  count=$((count + 1))
done < "$changed"

if [ "$count" = 0 ]; then
  echo "No text was changed; nothing to check."
  exit 0
fi
echo "Checking $count changed text(s)."
status=0
if [ "$FORMAT" = sarif ]; then
  "$SUFFICE" "$@" > "$SARIF_FILE" || status=$?
  if [ "$status" -le 1 ]; then echo "sarif=$SARIF_FILE" >> "$GITHUB_OUTPUT"; fi
else
  "$SUFFICE" "$@" || status=$?
fi
exit "$status"
