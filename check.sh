#!/usr/bin/env bash
# check.sh - from a bare Debian 12 to every test passed, in one command
#
# Installs what is missing, builds with both compilers and runs every check. A stage that fails does
# not stop the next ones. The last line is the sum: `N passed, N failed`.
#
#   ./check.sh            all stages
#   ./check.sh NAME ...   some of them, by the names that the summary shows
#
# STORM_SECONDS (30) and FUZZ_SECONDS (10, for each fuzzer) set how long to search.
set -u -o pipefail
cd "$(dirname "$0")" || exit 3
export LC_ALL=C.UTF-8
chosen=" $* "
passed=0 failed=0 skipped=0 summary=''
logs=build/check
mkdir -p "$logs"
tty=0
[ -t 1 ] && tty=1

# Compiler lines are progress: one moving line on a terminal, a count in a log.
show() {
    awk -v tty="$tty" '
        /^ +(CC|LD|TIDY) / {
            done++
            if (tty) { printf "\r  %d %-80.80s", done, $2; fflush(); shown = 1 }
            next
        }
        /^make\[[0-9]+\]: Nothing to be done/ { next }
        { if (shown) { printf "\r%-90s\r", ""; shown = 0 } print; fflush() }
        END { if (shown) printf "\r%-90s\r", ""; if (done) print "  " done " files built or checked" }'
}

# stage NAME COMMAND...: what it counts in a last line `N passed, N failed` is added, else it is one.
stage() {
    local name=$1 started code seconds line pass=0 fail=0 skip=0
    shift
    [ "$chosen" = "  " ] || [[ $chosen == *" $name "* ]] || return 0
    printf '\n== %s: %s\n' "$name" "$*"
    started=$(date +%s)
    "$@" </dev/null 2>&1 | tee "$logs/$name.log" | show
    code=$?
    seconds=$(($(date +%s) - started))
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$name.log" | tail -n 1)
    if [ -n "$line" ]; then
        read -r pass fail skip < <(awk '{ print $1, $3, (NF > 4) ? $5 : 0 }' <<<"$line")
        [ "$code" -ne 0 ] && [ "$fail" -eq 0 ] && fail=1
    elif [ "$code" -eq 0 ]; then
        pass=1
    else
        fail=1
    fi
    passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
    summary+=$(printf '%-8s %5d s  %5d passed %4d failed' "$name" "$seconds" "$pass" "$fail")$'\n'
}

make="make -j$(nproc 2>/dev/null || echo 2)"
stage install tools/install-deps.sh check
stage build $make all
stage test $make test
stage clang $make CC=clang unit
stage san $make MODE=san unit
stage small $make small
stage lint $make -k lint
stage digests $make digests
stage arm64 $make arm64
stage storm $make storm SECONDS="${STORM_SECONDS:-30}"
stage fuzz $make fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-10}"
stage cover $make cover

printf '\n== time and result of each stage\n%s\n' "$summary"
[ "$skipped" -gt 0 ] && echo "$skipped skipped; what and why stands above in lines that begin with SKIP"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
