# tidy.awk - what review would say twice
#
#   awk -f tools/tidy.awk FILE.[ch] ...
#
# Files have at most 600 lines, functions 60; a function may reach 80 where cutting it would read
# worse, and is then listed as a note. Calls that overflow, depend on the locale or the clock, or
# order by chance have better names here. A stray line comment is unfinished work. Every module of
# the core has a test: x_test.c for x.c and for its parts x_part.c, or one for all of a folder
# (scorers/scorers_test.c).
function sisters_missing(path,    folder, name)
{
    folder = path; sub(/\/[^\/]*$/, "", folder)
    name = folder; sub(/.*\//, "", name)
    if ((folder "/" name "_test.c") in given) return 0
    name = path; sub(/\.c$/, "", name)
    while (1) {
        if ((name "_test.c") in given) return 0
        if (name !~ /_[^_\/]*$/) return 1
        sub(/_[^_\/]*$/, "", name)
    }
}
BEGIN {
    split("strcpy strcat sprintf vsprintf strtok atoi atol atoll atof gets rand srand alloca assert",
          names)
    for (i in names) banned[names[i]] = 1
    for (i = 1; i < ARGC; i++) given[ARGV[i]] = 1
    for (i = 1; i < ARGC; i++) {
        path = ARGV[i]
        if (path !~ /^core\/.*\.c$/ || path ~ /_(test|fuzz|bench)\.c$/) continue
        if (sisters_missing(path)) { print path ":1: no sister test"; failed = 1 }
    }
}
function bad(why) { print FILENAME ":" FNR ": " why; failed = 1 }

FNR == 1 {
    if (lines > 600) { print file ":" lines ": over 600 lines"; failed = 1 }
    file = FILENAME; comment = 0; start = 0; title = ""
    plain_core = FILENAME ~ /^core\// && FILENAME !~ /_(test|fuzz|bench)\.c$/
    base = FILENAME; sub(/.*\//, "", base)
    if (FILENAME ~ /\.h$/ && index($0, "/* " base " - ") != 1)
        bad("a header starts with `/* " base " - what it is`")
}
{
    lines = FNR
    if (length($0) > 0 && $0 ~ /[ \t]$/) bad("space at the end of the line")
    if ($0 ~ /(^|[^A-Za-z_])(TODO|FIXME|XXX|HACK)([^A-Za-z_]|$)/) bad("unfinished work")

    # What is left of the line without texts and comments.
    code = $0
    gsub(/\\./, "", code)
    gsub(/'[^']*'/, "c", code)
    left = ""
    while (code != "") {
        if (comment) {
            at = index(code, "*/")
            if (!at) { code = ""; break }
            code = substr(code, at + 2); comment = 0
        } else if (match(code, /"|\/\*|\/\//)) {
            left = left substr(code, 1, RSTART - 1)
            mark = substr(code, RSTART, RLENGTH)
            code = substr(code, RSTART + RLENGTH)
            if (mark == "//") { bad("a line comment is unfinished work"); code = "" }
            else if (mark == "/*") comment = 1
            else { at = index(code, "\""); code = at ? substr(code, at + 1) : ""; left = left "s" }
        } else { left = left code; code = "" }
    }

    rest = left
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
        name = substr(rest, RSTART, RLENGTH); sub(/[ \t]*\($/, "", name)
        before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
        if ((name in banned || (name == "qsort" && plain_core)) && before != "." && before != ">") bad(name "() is not used here")
        rest = substr(rest, RSTART + RLENGTH)
    }

    if (/^[A-Za-z_].*[,)( ]$/ && left !~ /[;{}=]/) title = $0
    if (left ~ /^\{/) start = FNR
    else if (left ~ /^\}/ && start) {
        size = FNR - start - 1
        if (size > 80) bad("a function of " size " lines: " title)
        else if (size > 60) print FILENAME ":" start ": note: a function of " size " lines"
        start = 0
    }
}
END {
    if (lines > 600) { print file ":" lines ": over 600 lines"; failed = 1 }
    exit failed
}
