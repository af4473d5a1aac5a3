#!/usr/bin/env bash
# try.sh - from a bare Debian 12 to a real production trace scheduled by the real core, in one command
#
# Installs what is missing (apt-get, as root or through sudo), builds, compares four policies on the
# bundled openb trace and explains one refusal. Safe to repeat; what is done already is not done again.
set -eu
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "1/4 packages"
tools/install-deps.sh build

say "2/4 build"
tools/build.sh all
build/dovetail version

out=build/try
say "3/4 1,213 nodes, 6,212 GPUs, tasks for 130 % of them: four policies, two seeds"
build/dovetail simulate --openb data/openb --list default --seeds 42-43 \
    --policy dovetail,fgd,best-fit,kube-default --jobs "$(nproc)" --out "$out"

log=$out/default-dovetail-42.log
say "4/4 why was a job refused?"
job=$(sed -n '/"kind":"refuse"/{s/.*"job":"\([^"]*\)".*/\1/p;q}' "$log")
if [ -n "$job" ]; then
    echo "\$ build/dovetail explain $log $job"
    build/dovetail explain "$log" "$job"
else
    echo "no job was refused in $log"
fi

say "logs, journals, summary.json and report.html are in $out/"
