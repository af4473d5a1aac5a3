#!/usr/bin/env bash
# worlds.sh - every small world under several policies and orders, each log recomputed by the checker
set -u
cd "$(dirname "$0")/.." || exit 3
out=$(mktemp -d) || exit 3
trap 'rm -rf "$out"' EXIT
worlds=tests/worlds/small-worlds.jsonl.gz
passed=0 failed=0

for order in priority fifo easy conservative; do
    if build/dovetail simulate --worlds "$worlds" --policy dovetail,first-fit,kube-default --order "$order" \
        --out "$out/$order" >"$out/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$out/said"
    fi
    for policy in dovetail first-fit kube-default; do
        if "${PYTHON:-python3}" tests/check_log.py --worlds "$worlds" "$out/$order"/*-"$policy"-*.log >"$out/said" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            grep -v ': right' "$out/said" | head -n 20
        fi
    done
done
for journal in "$out"/priority/*-dovetail-1[0-9].journal; do
    if build/dovetail replay "$journal" >"$out/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        head -n 3 "$out/said"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
