#!/usr/bin/env bash
# build.sh - make with one moving line of progress on a terminal, and one line at the end elsewhere
#
#   tools/build.sh TARGET|VARIABLE=value ...
set -eu -o pipefail

total=$(make -n "$@" 2>/dev/null | grep -cE '^echo "  (CC|LD|TIDY) ' || true)
tty=0
[ -t 1 ] && tty=1
make -j"$(nproc)" "$@" 2>&1 | awk -v total="$total" -v tty="$tty" '
    /^  (CC|LD|TIDY) / {
        done++
        if (done > total) total = done
        if (tty) { printf "\r[%d/%d] %-70.70s", done, total, $2; fflush() }
        next
    }
    { if (tty && done) print ""; print; fflush() }
    END { if (tty && done) printf "\r%-90s\r", ""; if (done) print done " files built" }'
