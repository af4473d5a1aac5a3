#!/bin/sh
# run.sh - plants bugs into a copy of the tree and sees who finds them
#
#   tests/plant/run.sh [NAME ...]
#
# plants.txt describes the bugs. With each of them the unit tests of the core must still pass, and
# storm or small must find it within SEEDS seeds (2000). One line for each, then the sum. A bug that
# a unit test finds proves nothing here: it counts as skipped, and a whole run wants ten others.
#
# SEEDS   seeds of each program            JOBS   compilers and tests at a time (2)
# PLANTS  another list of bugs             CC     the compiler (gcc)
set -u
cd "$(dirname "$0")/../.." || exit 3
seeds=${SEEDS:-2000}
jobs=${JOBS:-2}
plants=${PLANTS:-tests/plant/plants.txt}
cc=${CC:-gcc}
bin=build/$(basename "$cc")-bare
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

build() {
    LIMIT_S=120 make -C "$copy" -j"$jobs" CC="$cc" MODE=bare JOBS="$jobs" "$@" >"$copy/log" 2>&1
}

# try PROGRAM SEEDS: 0 if it finds nothing
try() {
    (cd "$copy" && timeout 600 "$bin/tests/$1/main" --seeds "$2" >out 2>&1)
}

# The seed that a program named, or how it died.
found_at() {
    seed=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$copy/out" | head -n 1)
    [ "$1" -eq 124 ] && seed='never ends'
    echo "${seed:-exit code $1}"
}

# plant NAME FILE: FILE with the bug to standard output. Its lines must be there exactly once; what
# they are indented by does not matter. Exit code 4: they are not.
plant() {
    awk -v name="$1" '
        function bare(line) { sub(/^[ \t]+/, "", line); return line }
        NR == FNR && /^=/ { mine = $2 == name; next }
        NR == FNR && mine && /^-/ { old[olds++] = bare(substr($0, 2)) }
        NR == FNR && mine && /^\+/ { new[news++] = bare(substr($0, 2)) }
        NR == FNR { next }
        { text[lines++] = $0 }
        END {
            for (n = 0; n + olds <= lines; n++) {
                for (k = 0; k < olds && bare(text[n + k]) == old[k]; k++)
                    ;
                if (k == olds) { at = n; hits++ }
            }
            if (olds == 0 || hits != 1)
                exit 4
            for (n = 0; n < at; n++) print text[n]
            for (k = 0; k < news; k++) print new[k]
            for (n = at + olds; n < lines; n++) print text[n]
        }' "$plants" "$2"
}

# judge NAME FILE: one line about the bug
judge() {
    if ! plant "$1" "$2" >"$copy/$2"; then
        failed=$((failed + 1))
        echo "STALE  $1: its lines are not in $2, or more than once"
        return
    fi
    if ! build tests; then
        failed=$((failed + 1))
        echo "BROKEN $1: does not build"
        grep -m 3 'error' "$copy/log"
        return
    fi
    if ! build unit; then
        skipped=$((skipped + 1))
        echo "SKIP   $1: a unit test finds it: $(awk '/^FAIL/ { print $NF }' "$copy/log" | tr '\n' ' ')"
        return
    fi
    for program in small storm; do
        try "$program" "$seeds"
        code=$?
        [ "$code" -eq 0 ] && continue
        passed=$((passed + 1))
        printf 'found  %-28s at seed %s by %s; units pass\n' "$1" "$(found_at $code)" "$program"
        [ "${VERBOSE:-0}" = 1 ] && sed -n '1,/^shortest/p' "$copy/out"
        return
    done
    failed=$((failed + 1))
    echo "MISSED $1: $seeds seeds each of small and storm; units pass"
}

cp -R Makefile VERSION core tests tools "$copy/"
mkdir -p "$copy/edge" "$copy/cmd"
# Without any planted bug nobody may find one.
if ! build tests || ! build unit; then
    echo "the unit tests fail as they are:"
    tail -n 20 "$copy/log"
    exit 1
fi
for program in small storm; do
    if ! try "$program" 100; then
        echo "$program fails as it is:"
        tail -n 5 "$copy/out"
        exit 1
    fi
done
sed -n 's/^= *\([^ ]*\) *\([^ ]*\).*/\1 \2/p' "$plants" >"$copy/names"
while read -r name file; do
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    judge "$name" "$file" </dev/null
    cp "$file" "$copy/$file"
done <"$copy/names"
if [ $# -eq 0 ] && [ "$passed" -lt 10 ]; then
    echo "ten bugs that no unit test finds are wanted"
    failed=$((failed + 1))
fi
[ "$skipped" -gt 0 ] && { echo "$passed passed, $failed failed, $skipped skipped"; } ||
    echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
