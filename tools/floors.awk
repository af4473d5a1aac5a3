# floors.awk - includes point down, neighbours stay strangers, the core cannot touch the world
#
#   awk -f tools/floors.awk FILE.[ch] ...
#
# Sister tests, fuzzers and benches may look anywhere: they are no part of the product.
function floor(path)
{
    if (path ~ /^core\/base\//)   return 0
    if (path ~ /^core\/model\//)  return 1
    if (path ~ /^core\/place\//)  return 2
    if (path ~ /^core\/policy\//) return 3
    if (path ~ /^core\/engine\//) return 4
    if (path ~ /^core\//)         return -1
    if (path ~ /^edge\/base\//)   return 5
    if (path ~ /^edge\//)         return 6
    if (path ~ /^cmd\//)          return 7
    return 8
}
# A policy is a pair of files, or a folder of them.
function policy(path,    part) { sub(/\.[ch]$/, "", path); split(path, part, "/"); return part[3] }
function room(path,    part) { split(path, part, "/"); return part[1] "/" part[2] }
function bad(why) { print FILENAME ":" FNR ": " why; failed = 1 }

FNR == 1 {
    here = floor(FILENAME)
    if (here < 0) bad("no such floor of the core")
}
FILENAME ~ /_(test|fuzz|bench)\.c$/ { next }
/^# *include *</ {
    if (here < 5 && !/<(limits|stdalign|stdbool|stddef|stdint|string)\.h>/)
        bad("the core may not include " $2)
}
/^# *include *"/ {
    split($0, quoted, "\""); up = quoted[2]
    if (up !~ /\//) bad("paths start at the root of the repository: " up)
    else if (floor(up) > here) bad("points up: " up)
    else if (here == 3 && floor(up) == 3 && policy(up) != policy(FILENAME))
        bad("one policy may not know another: " up)
    else if (here == 5 && floor(up) > 0 && floor(up) < 5)
        bad("edge/base knows bytes, not GPUs: " up)
    else if (here == 6 && floor(up) == 6 && room(up) != room(FILENAME))
        bad("one edge may not know another: " up)
    else if (FILENAME ~ /^tests\/oracle\/oracle\.[ch]$/ && up !~ /^tests\/oracle\//)
        bad("the oracle shares no code with what it judges: " up)
}
END { exit failed }
