#!/bin/sh
# run.sh - plants bugs into a copy of the tree and sees who finds them
#
#   tests/plant/run.sh [NAME ...]
#
# Each line of plants.txt is one mutation. The unit tests of the core should still pass with it (a
# bug that they find proves nothing here: it is counted apart), and the named program must find it
# within SEEDS seeds (2000). Set UNITS=0 to leave the unit tests out.
set -u
cd "$(dirname "$0")/../.." || exit 3
seeds=${SEEDS:-2000}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
found=0 missed=0 units=0

build() {
    make -C "$copy" CC="${CC:-gcc}" MODE=bare "$@" >"$copy/log" 2>&1
}

cp -R Makefile VERSION core tests tools "$copy/"
mkdir -p "$copy/edge" "$copy/cmd"
# Without any planted bug nobody may find one.
if [ "${UNITS:-1}" = 1 ] && ! build unit; then
    echo "the unit tests fail as they are:"
    tail -n 20 "$copy/log"
    exit 1
fi
for program in small storm; do
    main=build/$(basename "${CC:-gcc}")-bare/tests/$program/main
    if ! build "$main" || ! (cd "$copy" && "$main" --seeds 100 >"$copy/out" 2>&1); then
        echo "$program fails as it is:"
        tail -n 5 "$copy/log" "$copy/out"
        exit 1
    fi
done
grep -v '^#' tests/plant/plants.txt | tr -s ' ' >"$copy/plants"
while IFS='@' read -r name file change program; do
    name=$(echo $name) file=$(echo $file) program=$(echo $program)
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    sed "$change" "$file" >"$copy/$file"
    if cmp -s "$file" "$copy/$file"; then
        echo "STALE  $name: $file has no such line any more"
        missed=$((missed + 1))
        continue
    fi
    main=build/$(basename "${CC:-gcc}")-bare/tests/$program/main
    if ! build "$main"; then
        echo "BROKEN $name: does not build"
        tail -n 5 "$copy/log"
        missed=$((missed + 1))
    elif [ "${UNITS:-1}" = 1 ] && ! build unit; then
        echo "units  $name: the unit tests find it"
        units=$((units + 1))
    elif (cd "$copy" && "$main" --seeds "$seeds" >"$copy/out" 2>&1); then
        echo "MISSED $name: $program, $seeds seeds"
        missed=$((missed + 1))
    else
        echo "found  $name: $(sed -n 's/^seed /seed /p' "$copy/out" | head -n 1)"
        found=$((found + 1))
    fi
    cp "$file" "$copy/$file"
done <"$copy/plants"
echo "$found planted bugs found, $units by unit tests already, $missed missed"
[ "$missed" -eq 0 ]
