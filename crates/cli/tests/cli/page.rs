//! `tasks show --html`: a task as one page that needs no other file.

use std::fs;

use setpoint_protocol::RoleId;
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::{ApprovalDecision, ApprovalWord, Finding, FindingKind};

use crate::support::markup::Markup;
use crate::support::organisation::Fake;
use crate::support::tape::*;
use crate::support::world::{Came, World};
use crate::support::{stories, tapes};

const ALL: usize = usize::MAX;

/// Runs `tasks show --html FILE` with these options; returns the result and the content of the file.
async fn shown(tape: Tape, found: Vec<Finding>, options: &str) -> (Came, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("task.html");
    let (task, fake) = (tape.task.clone(), Fake::with(vec![(tape, ALL, vec![], None)]));
    *fake.found.lock().unwrap() = found;
    let line = format!("tasks show {task} --html '{}' {options}", path.display());
    let came = World::headless(fake).run(&line).await;
    assert_eq!(came.code, 0, "{}", came.err);
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    (came, fs::read_to_string(&path).unwrap())
}

/// Returns the page of a tape and its parsed markup.
pub(crate) async fn page(tape: Tape) -> (String, Markup) {
    let (_, page) = shown(tape, vec![], "").await;
    let markup = Markup::of(&page);
    (page, markup)
}

/// Returns the outline of a page: headings, summaries, heads of tables, signs.
fn outline(markup: &Markup) -> String {
    let mut lines = String::new();
    for element in &markup.elements {
        let text = element.text.split_whitespace().collect::<Vec<_>>().join(" ");
        match element.name.as_str() {
            "h1" | "h2" | "h3" | "summary" | "caption" | "dt" | "dd" => {
                lines.push_str(&format!("{}: {text}\n", element.name));
            }
            "svg" => lines.push_str(&format!("svg {}\n", element.attribute("id").unwrap_or_default())),
            "p" if element.attribute("class").is_some_and(|class| class.contains("none")) => {
                lines.push_str(&format!("none: {text}\n"));
            }
            "a" if element.attribute("class").is_some_and(|class| class.contains("sign")) => {
                let (to, word) = (element.attribute("href").unwrap(), element.attribute("title").unwrap());
                lines.push_str(&format!("  {text} {to} {word}\n"));
            }
            _ => {}
        }
    }
    lines
}

#[tokio::test]
async fn a_page_answers_in_order() {
    let (_, markup) = page(tapes::migration_with_gaps()).await;
    insta::assert_snapshot!("page_gaps", outline(&markup));
    let (_, markup) = page(stories::abandoned()).await;
    insta::assert_snapshot!("page_abandoned", outline(&markup));
}

#[tokio::test]
async fn a_task_without_a_plan_has_a_page_too() {
    let (_, markup) = page(stories::broken()).await;
    insta::assert_snapshot!("page_broken", outline(&markup));
    let (_, markup) = page(Tape::opened("tidy up")).await;
    assert!(markup.text.contains("◐ open") && markup.text.contains("No round is over yet."));
    assert!(markup.text.contains("setpoint tasks resume tidy-up-0000000000007f3a"), "{}", markup.text);
}

#[tokio::test]
async fn a_page_says_how_it_ended_and_what_it_waits_for() {
    let (_, markup) = page(tapes::accepted()).await;
    for text in ["✔ accept", "criteria_met", "no role: every criterion is met", "Nothing is left to do."] {
        assert!(markup.text.contains(text), "{text}: {}", markup.text);
    }
    let mut tape = Tape::opened("waste no words");
    let mut fetch = approval("r3.1/3", "touch x", &[]);
    fetch.need.hosts = vec!["docs.example.org".to_owned()];
    tape.say(RoleId::Perceiver, 0, clarification("r1/2", &["Which words?"]))
        .say(RoleId::Executor, 1, approval("r3.1/2", "rm\n-rf build", &["/home/ada/bu\u{202e}ild"]))
        .say(RoleId::Executor, 1, fetch);
    let decision = ApprovalDecision {
        call_id: id("r3.1/3"),
        decision: ApprovalWord::Never,
        digest: "digest of touch x".to_owned(),
        by: "terminal".to_owned(),
        allows: Vec::new(),
    };
    tape.say(RoleId::User, 1, decision);
    let (_, markup) = page(tape).await;
    for text in [
        "? It waits for you: to answer: Which words?",
        "to allow: rm\\n-rf build",
        "It deletes: /home/ada/bu\\u{202e}ild",
        "It connects to: docs.example.org",
        "refused by terminal : touch x",
    ] {
        assert!(markup.text.contains(text), "{text}: {}", markup.text);
    }
}

#[tokio::test]
async fn the_most_severe_finding_comes_first() {
    let finding = |kind: FindingKind, text: &str| Finding {
        kind,
        accountable: RoleId::Executor,
        task_id: None,
        records: vec![3, 7],
        at: Timestamp::from_micros(1_767_268_800_000_000),
        text: text.to_owned(),
    };
    let found = || {
        vec![
            finding(FindingKind::ConstraintRelaxed, "a rule was relaxed"),
            finding(FindingKind::FalseClaim, "it was not <b>done</b>"),
            finding(FindingKind::ToolUnhealthy, "curl fails"),
        ]
    };
    let (_, text) = shown(tapes::accepted(), found(), "").await;
    let markup = Markup::of(&text);
    let said = &markup.by_id("findings").text;
    let order: Vec<usize> = ["violation", "warning", "notice"].map(|word| said.find(word).unwrap()).to_vec();
    assert!(order.is_sorted(), "{said}");
    assert!(said.contains("false_claim: it was not <b>done</b>accountable: R3 (executor)"), "{said}");
    assert!(said.contains("records 3, 7"), "{said}");
    let (none, _) = shown(tapes::accepted(), vec![], "").await;
    assert_eq!(none.out, "");
    // The findings also appear in text and in JSON.
    let fake = Fake::with(vec![(tapes::accepted(), ALL, vec![], None)]);
    *fake.found.lock().unwrap() = found();
    let came = World::headless(fake.clone()).run("tasks show count").await;
    assert!(came.out.contains("finding violation false_claim, R3: it was not <b>done</b>\n"), "{}", came.out);
    let value = World::headless(fake).run("tasks show count --json").await.json();
    assert_eq!(value["findings"][1]["kind"], "false_claim");
}

#[tokio::test]
async fn the_file_is_written_beside_the_json_and_instead_of_the_text() {
    let (came, page) = shown(tapes::accepted(), vec![], "--json").await;
    assert_eq!(came.json()["state"], "accept");
    assert!(page.ends_with("</html>\n"));
    let (came, again) = shown(tapes::accepted(), vec![], "").await;
    assert_eq!(came.out, "");
    assert!(came.err.starts_with("wrote ") && came.err.ends_with("task.html\n"), "{}", came.err);
    assert_eq!(page, again);
    let (came, _) = shown(tapes::accepted(), vec![], "--quiet").await;
    assert_eq!(came.err, "");
}

#[tokio::test]
async fn a_page_that_cannot_be_written_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let fake = || Fake::with(vec![(tapes::accepted(), ALL, vec![], None)]);
    for path in [folder.path().join("none/task.html"), folder.path().to_owned()] {
        let line = format!("tasks show count --html '{}' --json", path.display());
        let came = World::headless(fake()).run(&line).await;
        assert_eq!(came.code, 2, "{}", came.err);
        assert!(came.err.starts_with(&format!("error: failed to write {}", path.display())), "{}", came.err);
        let hint = came.json()["error"]["hints"][0].as_str().unwrap().to_owned();
        assert!(!hint.contains("standard output"), "{hint}");
        assert!(path.is_dir() != hint.ends_with("has free space"), "{hint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let came = World::headless(fake()).run("tasks show nope --html /dev/null").await;
    assert_eq!((came.code, came.err.as_str()), (2, "error: no task begins with \"nope\"\n"));
}

/// [`Markup::of`] rejects every element and attribute that no page has, and every link to another place.
#[tokio::test]
async fn no_text_of_others_becomes_markup() {
    let (page, markup) = page(stories::hostile()).await;
    for name in ["script", "img", "iframe", "link"] {
        assert_eq!(markup.all(name).count(), 0);
    }
    let seen = |c: char| matches!(c, '\n' | '\t') || !setpoint_cli::text::sanitise::is_unsafe(c);
    assert!(page.chars().all(seen));
    for text in [
        "<script>alert(1)</script>",
        "<!-- <iframe src=https://evil.example>",
        "user⟨U+202E⟩txt.exe⟨U+202C⟩",
        "␛]8;;https://evil.example␇click",
        "zero⟨U+200B⟩width",
        "&lt;b&gt;",
    ] {
        for id in ["intent", "criteria", "decisions", "calls", "next"] {
            assert!(markup.by_id(id).text.contains(text), "{text} in {id}");
        }
        assert!(markup.text.contains(text), "{text}");
    }
    let policy = markup.all("meta").find(|meta| meta.attribute("http-equiv").is_some()).unwrap();
    assert!(policy.attribute("content").unwrap().starts_with("default-src 'none'; style-src"));
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
}

#[tokio::test]
async fn the_largest_task_has_a_page_that_says_what_it_leaves_out() {
    let tape = stories::huge();
    assert!(tape.records.len() > 2_000, "{}", tape.records.len());
    let (page, markup) = page(tape).await;
    assert!(page.len() < 12 * 1024 * 1024, "{} bytes", page.len());
    assert_eq!(markup.by_id("matrix").text.matches("1.1").count(), 1 + 64);
    assert_eq!(markup.all("g").filter(|group| group.attribute("data-round").is_some()).count(), 4);
    assert!(markup.text.contains("more records are left out here"), "{}", page.len());
}
