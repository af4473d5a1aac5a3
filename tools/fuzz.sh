#!/usr/bin/env bash
# fuzz.sh - runs fuzzers for some seconds each and says what each did
#
#   tools/fuzz.sh SECONDS BUILD/path/x_fuzz ...
#
# Seeds come from tests/corpus/x/, new inputs are kept under build/corpus/x/, and an input that
# breaks a fuzzer is left under build/crash/ with the command that repeats it.
set -u
seconds=$1
shift
export seconds

fuzz_one() {
    name=$(basename "$1" _fuzz)
    corpus=build/corpus/$name
    mkdir -p "$corpus" build/crash
    seeds=
    [ -d "tests/corpus/$name" ] && seeds=tests/corpus/$name
    if "$1" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="build/crash/$name-" "$corpus" $seeds \
        >"$corpus.log" 2>&1; then
        runs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$corpus.log")
        echo "ok   $name: ${runs:-0} inputs"
    else
        echo "FAIL $name"
        tail -n 60 "$corpus.log" | sed 's/^/     | /'
        echo "     repeat: $1 $(ls -t build/crash/"$name"-* 2>/dev/null | head -n 1)"
    fi
}
export -f fuzz_one

report=$(printf '%s\0' "$@" | xargs -0 -r -n 1 -P "${JOBS:-2}" bash -c 'fuzz_one "$1"' fuzz_one)
printf '%s\n' "$report"
failed=$(grep -c '^FAIL' <<<"$report")
echo "$(grep -c '^ok' <<<"$report") passed, $failed failed"
[ "$failed" -eq 0 ]
