#!/usr/bin/env bash
# run.sh - runs test programs and scripts, one line each, and adds up what they counted
#
#   tests/run.sh PROGRAM|SCRIPT.sh|SCRIPT.py ...
#
# A cmocka program counts its own tests, and so does Python's unittest. Another script passes by exit
# code 0, says how many checks it made by a last line `N passed, N failed`, and is skipped by exit
# code 77; what it skips inside it says in lines that begin with `SKIP`, which are repeated here.
# Whatever fails is shown in full.
#
# JOBS     programs at a time            RUNNER   in front of a program (an emulator)
# LIMIT_S  seconds a program may take    BUILD, DOVETAIL, PYTHON   for the scripts
set -u
export LC_ALL=C
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1
export logs RUNNER="${RUNNER:-}" LIMIT_S="${LIMIT_S:-900}" PYTHON="${PYTHON:-python3}"

run_one() {
    log=$logs/$1
    started=$(date +%s%N)
    case $2 in
    *.sh) timeout "$LIMIT_S" bash "$2" ;;
    *.py) timeout "$LIMIT_S" "$PYTHON" "$2" ;;
    *) timeout "$LIMIT_S" $RUNNER "$2" ;;
    esac >"$log" 2>&1 </dev/null
    echo "$? $((($(date +%s%N) - started) / 1000000))" >"$log.end"
}
export -f run_one

n=0
for item in "$@"; do
    printf '%05d\0%s\0' "$n" "$item"
    n=$((n + 1))
done | xargs -0 -r -n 2 -P "${JOBS:-2}" bash -c 'run_one "$@"' run_one

passed=0 failed=0 skipped=0 n=0
for item in "$@"; do
    log=$logs/$(printf '%05d' "$n")
    n=$((n + 1))
    code=125 ms=0
    [ -f "$log.end" ] && read -r code ms <"$log.end"
    # cmocka speaks of each group; a script of itself, on its last line.
    counts=$(awk '
        /^\[  PASSED  \] [0-9]+ test/ { pass += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { fail += $4 }
        /^\[  SKIPPED \] [0-9]+ test/ { skip += $4 }
        /^Ran [0-9]+ tests? in / { pass += $2 } # of Python'"'"'s unittest, which counts the failed too
        /^FAILED \(/ {
            while (match($0, /(failures|errors)=[0-9]+/)) {
                count = substr($0, RSTART, RLENGTH)
                sub(/.*=/, "", count)
                fail += count; pass -= count
                $0 = substr($0, RSTART + RLENGTH)
            }
        }
        /^[0-9]+ passed, [0-9]+ failed/ { own = 1; own_pass = $1; own_fail = $3 }
        END { print own ? own_pass : pass + 0, own ? own_fail : fail + 0, skip + 0 }' "$log")
    read -r pass fail skip <<<"$counts"
    if [ "$code" = 77 ]; then
        skip=$((skip + 1))
    elif [ "$code" != 0 ] && [ "$fail" = 0 ]; then
        fail=1
    elif [ "$code" = 0 ] && [ "$pass" = 0 ] && [ "$fail" = 0 ] && [ "$skip" = 0 ]; then
        case $item in *.sh | *.py) pass=1 ;; *) fail=1 ;; esac
    fi
    word=ok
    [ "$skip" -gt 0 ] && word=skip
    [ "$fail" -gt 0 ] && word=FAIL
    printf '%-4s %4d passed %s%6d ms  %s\n' "$word" "$pass" \
        "$([ "$fail" -gt 0 ] && printf '%d failed ' "$fail")" "$ms" "${item#build/*/}"
    if [ "$fail" -gt 0 ]; then
        [ "$code" = 124 ] && echo "     stopped after $LIMIT_S s"
        sed 's/^/     | /' "$log" | tail -n 200
    else
        grep '^SKIP' "$log" | sed 's/^/     /'
    fi
    passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
done
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
