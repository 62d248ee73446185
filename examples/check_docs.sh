#!/bin/sh
# Hold the documentation of a project against its code, as a step of a build: exit status 1 if a claim is wrong.
# pip install . && sh examples/check_docs.sh
cd "$(dirname "$0")/documents/project" || exit 2
exec "${SUFFICE:-suffice}" check docs/*.md --docs src/
