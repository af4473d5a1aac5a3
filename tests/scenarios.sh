#!/usr/bin/env bash
# scenarios.sh - every scenario below tests/scenarios/ holds; one line for each that does not
set -u
dovetail=${DOVETAIL:-build/dovetail}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
passed=0 failed=0
while read -r file; do
    if "$dovetail" simulate --scenario "$file" >"$said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$file:"
        cat "$said"
    fi
done < <(find tests/scenarios -name '*.yaml' | sort)
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
