//! The order of the page, and the sections that are a table or a list.

use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use setpoint_protocol::record::Record;
use setpoint_protocol::text::clip;

use super::parts::{isolated, none};
use super::{
    Report, calls, chart, cost, ending, gist, grid, header, limit, matrix, measured, parts, rounds, timeline,
};
use crate::state::ViewState;
use crate::text::sanitise;
use crate::view::words;

/// Forbids the page to load, run or send anything, even if someone changed its text.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

/// Returns the page. Pure: the same report gives the same page.
#[must_use]
pub(crate) fn page(report: &Report<'_>) -> String {
    let Report { state, zone, .. } = *report;
    let all = measured::rounds(state);
    let sections = [
        ("output", "Answer", ending::output(state)),
        ("next", "What can be done next", ending::next(state)),
        ("intent", "Intent and criteria", intent(state)),
        ("criteria", "Matrix", matrix::matrix(state, zone)),
        ("loss", "Loss", chart::chart(&all, &state.controller)),
        ("direction", "Action grid", grid::grid(&all, &state.controller)),
        ("decisions", "Decisions", rounds::decisions(state)),
        ("memory", "Memory", rounds::memory(state)),
        ("messages", "Time line", messages(report.records, zone)),
        ("calls", "Tool calls", calls::calls(state, zone)),
        ("approvals", "Approvals", calls::approvals(state)),
        ("cost", "Cost", cost::cost(report.cost)),
        ("findings", "Findings", ending::findings(report.findings, zone)),
    ];
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (clip(&state.goal, limit::HEADING_CHARS_MAX)) " · " (state.task) }
                // The only text that is not escaped, because it is a file of this program.
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (header::header(report)) }
                nav aria-label="Sections" {
                    @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } }
                }
                main {
                    @for (id, title, inner) in &sections {
                        section id=(id) aria-labelledby={ (id) "-title" } {
                            h2 id={ (id) "-title" } { (title) }
                            (inner)
                        }
                    }
                }
                footer {
                    p {
                        "Made from " (words::count(state.seq, "record"))
                        " by setpoint " (env!("CARGO_PKG_VERSION")) "."
                    }
                }
            }
        }
        "\n"
    };
    finished(page)
}

/// Returns the markup with hidden characters replaced by their names.
fn finished(page: Markup) -> String {
    sanitise::marked(&page.into_string())
}

fn intent(state: &ViewState) -> Markup {
    let (asked, left_out) = limit::each(&state.clarifications, limit::LINES_MAX, |one| {
        let answer = if one.answer.is_empty() { "(no answer)" } else { &one.answer };
        html! {
            dt dir="auto" { (clip(&one.question, limit::FIELD_CHARS_MAX)) }
            dd dir="auto" { (clip(answer, limit::FIELD_CHARS_MAX)) }
        }
    });
    html! {
        @match &state.intent {
            Some(intent) => p.intent dir="auto" { (isolated(&clip(intent, limit::FIELD_CHARS_MAX))) },
            None => (none("The goal was not turned into an intent.")),
        }
        @if let Some(scope) = &state.scope {
            p { "Where it may act: " (isolated(&clip(scope, limit::FIELD_CHARS_MAX))) }
        }
        @if !state.clarifications.is_empty() {
            dl.asked { (asked) }
            (limit::left_out_note(left_out, "questions are"))
        }
        (rounds::plans(state))
    }
}

const HEAD: [&str; 5] = ["No.", "At", "From → to", "Kind", "Gist"];

/// Returns the picture, and all records below it, collapsed.
fn messages(records: &[Record], zone: &TimeZone) -> Markup {
    let (rows, left_out) = limit::each(records, limit::RECORDS_MAX, |record| {
        html! {
            tr {
                th.number scope="row" { (record.seq) }
                td.number { (words::time_of_day(record.at, zone)) }
                td.short { (way(record)) }
                td.short { (record.kind.name()) }
                td.what dir="auto" { (gist::of(record)) }
            }
        }
    });
    html! {
        (timeline::timeline(records))
        details {
            summary { (words::count(records.len() as u64, "record")) }
            (parts::table("Everything that was received and said, in order", &HEAD, &rows))
            (limit::left_out_note(left_out, "records are"))
        }
    }
}

fn way(record: &Record) -> String {
    let from = words::role_label(record.from.role, record.from.instance);
    let to: Vec<String> = record.to.iter().map(|to| words::role_label(to.role, to.instance)).collect();
    if to.is_empty() { from } else { format!("{from} → {}", to.join(", ")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leaf(text: &str) -> String {
        finished(html! { p title=(text) { (text) } })
    }

    #[test]
    fn text_stays_text() {
        let cases = [
            ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
            ("</p><script>alert(1)</script>", "&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload=\"x", "&quot; onload=&quot;x"),
            // Attributes are in double quotes, so a single quote ends nothing.
            ("' onload='x", "' onload='x"),
            ("&lt;", "&amp;lt;"),
            ("]]><!-- \u{0}", "]]&gt;&lt;!-- ␀"),
            ("ab\u{202e}cd", "ab⟨U+202E⟩cd"),
        ];
        for (text, shown) in cases {
            assert_eq!(leaf(text), format!("<p title=\"{shown}\">{shown}</p>"), "{text:?}");
        }
    }

    /// Generates texts that a browser would or might take for markup.
    fn any_text() -> impl Strategy<Value = String> {
        let nasty = prop::sample::select(vec![
            "<",
            ">",
            "\"",
            "'",
            "&",
            "=",
            "/",
            "`",
            "<!--",
            "-->",
            "]]>",
            "<script>",
            "</style>",
            "&#x3c;",
            "\0",
            "\u{1b}",
            "\u{85}",
            "\u{202e}",
            "\u{2028}",
            "javascript:",
            "\n",
            "\t",
            "ﹼ",
            "＜",
        ]);
        prop::collection::vec(prop_oneof![nasty.prop_map(str::to_owned), ".{0,4}"], 0..24)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_text_makes_markup(text in any_text()) {
            let html = leaf(&text);
            let inner = html.strip_prefix("<p title=\"").and_then(|rest| rest.strip_suffix("</p>")).unwrap();
            let (value, content) = inner.split_once("\">").unwrap();
            for part in [value, content] {
                prop_assert!(!part.contains(['<', '>', '"']), "{part}");
                prop_assert!(part.chars().all(|c| matches!(c, '\n' | '\t') || !sanitise::is_unsafe(c)), "{part}");
                // Every ampersand begins one of the entities that are written here.
                let entities = ["&amp;", "&lt;", "&gt;", "&quot;"];
                prop_assert!(
                    part.match_indices('&').all(|(at, _)| entities.iter().any(|e| part.split_at(at).1.starts_with(e)))
                );
            }
        }
    }
}
