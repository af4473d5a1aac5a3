#!/usr/bin/env bash
# command.sh - what the program answers to wrong words, full disks, closed pipes and Ctrl-C
#
# Each row wants an exit code and a part of what is said; the rest looks at what is left behind.
set -u
dovetail=${DOVETAIL:-build/dovetail}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

verdict() { # WHAT CODE
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $1"
        tail -n 5 "$out/said"
    fi
}

says() { # CODE WORDS ARGUMENT...
    local want=$1 words=$2 code
    shift 2
    "$dovetail" "$@" >"$out/said" 2>&1
    code=$?
    [ "$code" = "$want" ] && grep -qF -- "$words" "$out/said"
    verdict "exit code $want and '$words', found $code: $*" $?
}

cat >"$out/jobs" <<'END'
{"kind":"workload","format":"dovetail-workload/2","name":"w"}
{"kind":"job","job":"a","submit_s":0,"pods":2,"gpus":2,"run_s":10}
{"kind":"job","job":"<b>\"","submit_s":1,"gpus":1,"run_s":10}
END
small=(simulate --synthetic "host:2 gpu:4" --workload "$out/jobs")

says 2 "usage: dovetail"
says 2 "no command is called" frob
says 2 "expected exactly one of" simulate
says 2 "--policy: found no name" "${small[@]}" --policy ,
says 2 "--policy: found \`best\`" "${small[@]}" --policy best
says 2 "expected fifo, priority, easy or conservative" "${small[@]}" --order best
says 2 "expected a number from 1 to" "${small[@]}" --budget 0
says 2 "found no such file" "${small[@]}" --bounds "$out/none"
says 2 "go with --openb" "${small[@]}" --seeds 42
says 2 "found \`51-42\`" simulate --openb data/openb --seeds 51-42
says 2 "found no arrival order of seed 7" simulate --openb data/openb --seeds 7
says 2 "expected a name such as default" simulate --openb data/openb --list ../../etc
says 2 "leave the other options out" simulate --scenario --policy fgd x.yaml
says 2 "found no such file" simulate --scenario "$out/none"
says 3 "cannot make the folder" "${small[@]}" --out "$out/jobs"
says 0 "w under dovetail" "${small[@]}" --out "$out/o" --quiet
says 2 "found an empty name" explain "$out/o/w-dovetail-0.log" ""
says 2 "no job 'c' among its 2 jobs" explain "$out/o/w-dovetail-0.log" c
says 0 "finished" explain "$out/o/w-dovetail-0.log" a
says 2 "expected a journal that opens" replay "$out/none"
says 2 "found no journal" replay "$out/jobs"
says 0 "decisions and digests are equal" replay "$out/o/w-dovetail-0.journal"

# A seed that is named twice runs once: two runs would write one file.
"$dovetail" simulate --openb data/openb --list gpushare100 --seeds 42,42 --policy first-fit \
    --json >"$out/said" 2>&1
[ "$(grep -c '"seed"' "$out/said")" = 1 ]
verdict "one run of --seeds 42,42" $?

# Where nobody reads, or nothing fits, the files are written all the same, and it is said.
"$dovetail" "${small[@]}" --out "$out/full" >/dev/full 2>"$out/said"
[ $? = 3 ] && grep -q "No space left" "$out/said" && [ -s "$out/full/summary.json" ] &&
    [ -s "$out/full/report.html" ]
verdict "a full disk behind standard output" $?
"$dovetail" simulate --help >/dev/full 2>"$out/said"
[ $? = 3 ] && grep -q "No space left" "$out/said"
verdict "help on a full disk" $?

# A run that is stopped leaves what it knows, marked as cut, and no sums of an earlier run.
touch "$out/o/summary.json"
"$dovetail" simulate --openb data/openb --seeds 42 --policy fgd --out "$out/o" --quiet \
    >"$out/said" 2>&1 &
run=$!
until [ -s "$out/o/default-fgd-42.journal" ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
"$dovetail" simulate --openb data/openb --seeds 42 --policy fgd --out "$out/o" --quiet \
    >"$out/second" 2>&1
[ $? = 3 ] && grep -q "another run writes it" "$out/second"
verdict "two runs that write one file" $?
kill -INT $run 2>/dev/null
wait $run
[ $? = 130 ] && grep -q "0 of 1 runs are complete" "$out/said" && [ ! -e "$out/o/summary.json" ]
verdict "Ctrl-C" $?
says 2 "the journal was cut" replay "$out/o/default-fgd-42.journal"
says 2 "(the log is cut)" explain "$out/o/default-fgd-42.log" none

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
