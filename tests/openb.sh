#!/usr/bin/env bash
# openb.sh - what the README shows, on one seed of the bundled trace, checked by others than the core
#
# Runs two policies twice, with different numbers of jobs at a time, and wants: equal bytes, a log
# that the independent checker finds true line by line, a journal that replays, an explanation of
# one refusal and of one start, and a figure for fgd near the published one.
set -u
dovetail=${DOVETAIL:-build/dovetail}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$out/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $what: $*"
        tail -n 20 "$out/said"
    fi
}

run() { # FOLDER JOBS
    "$dovetail" simulate --openb data/openb --list default --seeds 42 --policy dovetail,fgd \
        --jobs "$2" --out "$out/$1"
}

first() { # KIND: the job of the first such line
    sed -n "/\"kind\":\"$1\"/{s/.*\"job\":\"\([^\"]*\)\".*/\1/p;q}" "$log"
}

near() { # FIGURE PUBLISHED WITHIN: of the fgd run
    "${PYTHON:-python3}" - "$out/a/summary.json" "$@" <<'END'
import json
import sys

path, name, published, within = sys.argv[1:]
runs = [r for r in json.load(open(path)) if r["policy"] == "fgd"]
found = runs[0]["metrics"][name]
print(f"{name}: found {found}, published {published}")
sys.exit(abs(found - float(published)) > float(within))
END
}

check "a run ends well" run a 1
check "so does the same with two jobs at a time" run b 2
for policy in dovetail fgd; do
    log=$out/a/default-$policy-42.log
    check "equal runs give equal logs" cmp "$log" "$out/b/default-$policy-42.log"
    check "and equal journals" cmp "${log%.log}.journal" "$out/b/default-$policy-42.journal"
    check "the log is true" "${PYTHON:-python3}" tests/check_log.py --openb data/openb \
        --list default --seed 42 --sample 20 "$log"
    check "the journal replays" "$dovetail" replay "${log%.log}.journal"
    check "a refusal is explained" "$dovetail" explain "$log" "$(first refuse)"
    check "a start is explained" "$dovetail" explain "$log" "$(first start)"
done
# One seed of one list: the published mean of ten is 95.39, their deviation below 0.3.
check "fgd allocates what was published" near gar_130_pct 95.39 0.5

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
