/* The style sheet, and the table of all figures. */
#include "edge/sim/report_parts.h"

#include <string.h>

const char report_style[] =
    ":root{--bg:#fbfbf9;--card:#fff;--ink:#1d232b;--soft:#5c6672;--line:#e3e5e2;--good:#187a4b;"
    "--bad:#b3362f;--c0:#2f6fde;--c1:#e07a2d;--c2:#1f9d76;--c3:#b0539c;--c4:#7a66d0;--c5:#b8951c;"
    "--c6:#3aa0c4;--c7:#d04a5b;--c8:#77823f;--c9:#8b8b8b}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1c2026;--ink:#e8eaed;"
    "--soft:#9aa4b0;--line:#2e343c;--good:#57c791;--bad:#f0847b;--c0:#6ea0ff;--c1:#f2a05f;"
    "--c2:#4fcba3;--c3:#d988c6;--c4:#a897f2;--c5:#dcbc4d;--c6:#6cc5e4;--c7:#f07f8d;--c8:#a9b56b;"
    "--c9:#a9a9a9}}\n"
    "*{box-sizing:border-box}html{scroll-behavior:smooth}\n"
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"
    "\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",sans-serif}\n"
    "header,main{max-width:1240px;margin:0 auto;padding:0 20px}header{padding-top:28px}\n"
    "h1{font-size:26px;margin:0;letter-spacing:-.01em}h1 span{color:var(--soft);font-weight:400}\n"
    "header p,.q{color:var(--soft);margin:4px 0 12px;max-width:70ch}.q{margin:-6px 0 10px}\n"
    "nav{display:flex;flex-wrap:wrap;gap:6px}nav a{color:inherit;text-decoration:none;"
    "border:1px solid var(--line);border-radius:999px;padding:2px 12px;background:var(--card)}\n"
    "nav a:hover,nav a:focus{border-color:var(--soft)}\n"
    "section{margin:26px 0 40px}h2{font-size:20px;margin:0 0 8px}h2 small{color:var(--soft);"
    "font-weight:400;font-size:14px;margin-left:6px}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px}\n"
    ".card{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--c);"
    "border-radius:8px;padding:10px 14px;display:flex;flex-direction:column}\n"
    ".card span{color:var(--soft);font-size:13px}.card .big{color:var(--ink);font-size:27px;"
    "line-height:1.25;font-variant-numeric:tabular-nums}.big small{font-size:15px}\n"
    ".k{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:12px 0;padding:0;"
    "font-size:13px}.k li::before{content:\"\";display:inline-block;width:12px;height:12px;"
    "border-radius:3px;background:var(--c);margin-right:6px;vertical-align:-1px}\n"
    "figure .k{margin:6px 0 0}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));"
    "gap:14px}\n"
    "figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:12px 14px;min-width:0}figcaption{font-weight:600;font-size:14px;margin-bottom:6px}\n"
    "svg{display:block;width:100%;height:auto;font-size:12.5px;fill:var(--ink)}\n"
    "text{fill:var(--soft)}.m{text-anchor:middle}.e{text-anchor:end}.s{fill:var(--ink)}\n"
    ".g{stroke:var(--line)}.a{stroke:var(--soft)}\n"
    ".l{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}"
    ".l:hover{stroke-width:4}.b{fill:var(--c);opacity:.16}.f{fill:var(--c)}"
    ".f:hover{opacity:.75}\n"
    ".p{fill:var(--c);fill-opacity:0}.p:hover{fill-opacity:.55}"
    ".r{stroke:var(--c);stroke-width:2}.h{fill:var(--card);stroke:var(--c);stroke-width:2}\n"
    ".c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}"
    ".c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}.c8{--c:var(--c8)}.c9{--c:var(--c9)}\n"
    "details{margin-top:14px}summary{cursor:pointer;font-weight:600;font-size:14px}\n"
    ".t{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin-top:8px;"
    "background:var(--card)}table{border-collapse:collapse;width:100%;font-size:13px;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 12px;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}"
    "thead th{border-top:0;position:sticky;top:0;background:var(--card)}"
    "th:first-child{text-align:left;font-weight:400;position:sticky;left:0;"
    "background:var(--card)}\n"
    "th abbr{text-decoration:underline dotted var(--soft);text-underline-offset:3px;cursor:help}"
    "td small,th small{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}\n"
    "tbody tr:hover th,tbody tr:hover td{background:var(--bg)}\n"
    "@media (max-width:640px){svg{font-size:17px}header,main{padding:0 12px}"
    "header{padding-top:16px}figure{padding:10px 8px}}\n"
    "@media print{body{background:#fff}figure,.card{break-inside:avoid}nav{display:none}}\n";

static void cell(struct out *out, const struct summary_figure *f)
{
    const char *unit = metrics_row_unit(f->row);
    int decimals = summary_decimals(unit, f->mean);

    if (f->seeds == 0) {
        out_add(out, "<td></td>");
        return;
    }
    out_add(out, "<td");
    if (f->max > f->min)
        out_format(out, " title=\"%.*f to %.*f over %u seeds\"", decimals, f->min, decimals, f->max,
                   f->seeds);
    out_format(out, ">%.*f", decimals, f->mean);
    if (f->has_baseline) {
        double diff = f->mean - f->baseline;
        enum metric_sense sense = metrics_row_sense(f->row);
        int places = summary_decimals(unit, diff);
        bool better = (diff > 0) == (sense == METRIC_UP);
        struct out text = {0};

        out_format(&text, "%+.*f", places, diff);
        if (diff != 0 && strpbrk(text.bytes, "123456789"))
            out_format(out, " <small class=\"%s\">%s</small>",
                       sense == METRIC_FLAT ? ""
                       : better             ? "good"
                                            : "bad",
                       text.bytes);
        out_free(&text);
    }
    out_add(out, "</td>");
}

static void head(struct out *out, const char *workload, const struct summary_group *group,
                 uint32_t count, const char *baseline)
{
    out_add(out, "<thead><tr><th>figure</th><th>unit</th>");
    for (uint32_t g = 0; g < count; g++)
        if (strcmp(group[g].workload, workload) == 0) {
            out_add(out, "<th>");
            out_html(out, group[g].policy);
            if (baseline && strcmp(baseline, group[g].policy) == 0)
                out_add(out, " <small>baseline</small>");
            out_add(out, "</th>");
        }
    out_add(out, "<th>bound</th></tr></thead><tbody>\n");
}

/* A row of one figure: its cell under every policy of the workload, found by name. */
static void row(struct out *out, const struct summary *s, const char *workload,
                const struct summary_group *group, uint32_t count, const char *baseline,
                const struct summary_figure *named)
{
    struct summary_figure bound = *named;

    out_add(out, "<tr><th><abbr title=\"");
    out_html(out, metrics_row_text(named->row));
    out_add(out, "\">");
    out_html(out, named->name);
    out_add(out, "</abbr></th><td><small>");
    out_html(out, metrics_row_unit(named->row));
    out_add(out, "</small></td>");
    for (uint32_t g = 0; g < count; g++) {
        struct summary_figure f = {0};
        bool found = false;

        if (strcmp(group[g].workload, workload) != 0)
            continue;
        for (uint32_t i = 0; !found && summary_figure(s, &group[g], baseline, i, &f); i++)
            found = strcmp(f.name, named->name) == 0;
        if (!found)
            f.seeds = 0;
        cell(out, &f);
        if (f.seeds > 0 && f.has_bound)
            bound = f;
    }
    if (bound.has_bound)
        out_format(out, "<td>%.*f</td>", summary_decimals(metrics_row_unit(bound.row), bound.bound),
                   bound.bound);
    else
        out_add(out, "<td></td>");
    out_add(out, "</tr>\n");
}

void report_table(struct out *out, const struct summary *s, const char *workload,
                  const struct summary_group *group, uint32_t group_count, const char *baseline)
{
    const struct summary_group *first = NULL;
    struct summary_figure f;

    for (uint32_t g = 0; g < group_count && !first; g++)
        if (strcmp(group[g].workload, workload) == 0)
            first = &group[g];
    if (!first)
        return;
    out_add(out, "<details open><summary>All figures</summary><div class=\"t\"><table>");
    head(out, workload, group, group_count, baseline);
    for (uint32_t i = 0; summary_figure(s, first, baseline, i, &f); i++)
        if (f.seeds > 0)
            row(out, s, workload, group, group_count, baseline, &f);
    out_add(out, "</tbody></table></div></details>\n");
}
