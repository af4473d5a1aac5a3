#!/bin/sh
# symbols.sh - proves that the core touches nothing but itself
#
#   tools/symbols.sh libcore.a ...
#
# Undefined symbols of the archive, less those it defines, must be memory moves, the assertion
# handler or the compiler's own arithmetic. A clock, a file or an allocation would show up here.
set -eu
allowed='memcpy memmove memset memcmp must_fail
__udivti3 __umodti3 __divti3 __modti3 __popcountdi2 __stack_chk_fail __stack_chk_guard'
failed=0
for archive in "$@"; do
    strangers=$(nm -g "$archive" | awk -v allowed="$allowed" '
        BEGIN { count = split(allowed, name); for (i = 1; i <= count; i++) known[name[i]] = 1 }
        NF == 2 && ($1 == "U" || $1 == "w" || $1 == "v") { wanted[$2] = 1 }
        NF == 3 { known[$3] = 1 }
        END { for (s in wanted) if (!(s in known)) print s }' | sort)
    if [ -n "$strangers" ]; then
        echo "$archive: the core may not use:" $strangers
        failed=1
    fi
done
exit $failed
