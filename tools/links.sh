#!/bin/sh
# links.sh - every relative link of a document leads to a file that is there
set -eu
broken=$(find . -path ./build -prune -o -path ./.git -prune -o -name '*.md' -print | while read -r page; do
    grep -oE '\]\([^)#: ]+' "$page" | sed 's/^](//' | while read -r target; do
        [ -e "$(dirname "$page")/$target" ] || echo "$page: no such file: $target"
    done
done)
[ -z "$broken" ] || {
    echo "$broken"
    exit 1
}
