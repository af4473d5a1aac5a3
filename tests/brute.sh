#!/usr/bin/env bash
# brute.sh - the core against brute force, and a short storm; SEEDS=n worlds (100000)
set -u
build=${BUILD:-build/gcc-release}
passed=0 failed=0

want() {
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "failed: $*"
        failed=$((failed + 1))
    fi
}

want "$build/tests/small/main" --exhaustive
want "$build/tests/small/main" --seeds "${SEEDS:-100000}"
want "$build/tests/storm/main" --seeds 300
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
