#!/usr/bin/env bash
# scenarios.sh - every scenario below tests/scenarios/ holds
#
# Files in fail/ must fail with exit code 1, files in bad/ must be refused with exit code 2; what
# they must say stands in their first line after `# says: `. README.md lists what comes from public
# reports and examples.
set -u
dovetail=${DOVETAIL:-build/dovetail}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
passed=0 failed=0

# check CODE FILE: runs the file and compares exit code and words.
check() {
    "$dovetail" simulate --scenario "$2" >"$said" 2>&1
    code=$?
    words=$(sed -n '1s/^# says: //p' "$2")
    if [ "$code" = "$1" ] && { [ "$1" = 0 ] || { [ -n "$words" ] && grep -qF "$words" "$said"; }; }
    then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$2: exit code $code, expected $1${words:+ and: $words}"
        sed 's/^/  /' "$said"
    fi
}

for file in tests/scenarios/*.yaml; do
    check 0 "$file"
done
for file in tests/scenarios/fail/*.yaml; do
    check 1 "$file"
done
for file in tests/scenarios/bad/*.yaml; do
    check 2 "$file"
done
# A file that fails and one that is wrong do not hide each other: the worse code is the answer.
"$dovetail" simulate --scenario tests/scenarios/fail/promise.yaml tests/scenarios/bad/unknown-key.yaml \
    tests/scenarios/restart-both-kinds.yaml >"$said" 2>&1
if [ $? = 2 ] && grep -q '^FAIL' "$said" && grep -q '^ok ' "$said"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "three files in one call:"
    sed 's/^/  /' "$said"
fi
for file in tests/scenarios/report-*.yaml tests/scenarios/published-*.yaml; do
    if ! grep -qF "(${file##*/})" tests/scenarios/README.md; then
        failed=$((failed + 1))
        echo "tests/scenarios/README.md does not list ${file##*/}"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
