//! Commands that show memory: how much, how strong, which records, which rules.

use serde_json::json;
use setpoint_memory::view::*;
use setpoint_protocol::TaskId;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::*;

use super::{out, remembering, run};
use crate::support::memory::*;

fn pairs() -> Answer {
    let pair = |space: &str, entity: &str, attention, decision, action| PairLine {
        space: space.to_owned(),
        entity: entity.to_owned(),
        records: 12,
        rules: 1,
        sums: Sums { attention, decision, action },
    };
    Answer::Pairs(vec![
        pair("intent:count-files", "env:local", 12.416, 3.1, MemoryAction::Exploit),
        pair("tool:shell", "path:/home/ada/a b", 2.5, -2.5, MemoryAction::Avoid),
        pair("tool:shell", "path:two\nlines", 1.0, -0.001, MemoryAction::Caution),
        pair("intent:tidy", "env:local", 0.4, 0.4, MemoryAction::Ignore),
    ])
}

fn answering(answer: Answer) -> FakeMemory {
    FakeMemory { answer, ..FakeMemory::default() }
}

fn pair_answer(attention: f64, decision: f64, action: MemoryAction) -> FakeMemory {
    answering(Answer::Pair(Box::new(pair(attention, decision, action))))
}

#[tokio::test]
async fn how_much_there_is() {
    let stats = MemoryStats {
        place: "/home/ada/.local/share/setpoint/memory".to_owned(),
        records: 12_345,
        summed: 12_000,
        rules: 12,
        facts: 3,
        pairs: 87,
        forgotten: 2,
        journal_records: 1_234_567,
        bytes: 12_345_678,
        is_shared: Some(true),
        dreamt_at: Some(after(-0.25)),
    };
    let full = || FakeMemory { stats: stats.clone(), ..FakeMemory::default() };
    insta::assert_snapshot!(out(full(), "memory stats").await);
    let value = run(remembering(full()), "memory stats --json").await.0.json();
    assert_eq!(value["dreamt_at"], "2026-11-22T21:30:00.000000Z");
    assert_eq!(value["bytes"], 12_345_678);
    let empty = out(FakeMemory::default(), "memory stats").await;
    assert!(empty.contains("size       0 bytes\n") && empty.contains("dreamt     never\n"), "{empty}");
}

#[tokio::test]
async fn times_are_shown_where_the_reader_is() {
    let stats = MemoryStats { dreamt_at: Some(NOW), ..FakeMemory::default().stats };
    let mut world = remembering(FakeMemory { stats, ..FakeMemory::default() });
    world.zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(-5));
    let (came, _) = run(world, "memory stats").await;
    assert!(came.out.contains("dreamt     2026-11-22 22:30:00\n"), "{}", came.out);
}

#[tokio::test]
async fn pairs_are_a_table() {
    insta::assert_snapshot!(out(answering(pairs()), "memory query").await);
    let value = run(remembering(answering(pairs())), "memory query --json").await.0.json();
    assert_eq!(value.as_array().unwrap().len(), 4);
    assert_eq!((&value[2]["entity"], &value[2]["action"]), (&json!("path:two\nlines"), &json!("caution")));
}

#[tokio::test]
async fn query_arguments_reach_memory() {
    let asked = [
        ("memory query", "query None None now"),
        ("memory query s", "query Some(\"s\") None now"),
        ("memory query 's p' e", "query Some(\"s p\") Some(\"e\") now"),
        ("memory query s e --at +1d", "query Some(\"s\") Some(\"e\") 2026-11-24T03:30:00.000000Z"),
        ("memory list", "list None None None 20 now"),
        (
            "memory list --space s --entity e --level c --limit 7 --at +2w",
            "list Some(\"s\") Some(\"e\") Some(C) 7 2026-12-07T03:30:00.000000Z",
        ),
        ("memory rules --at 2026-12-24", "rules 2026-12-24T00:00:00.000000Z"),
    ];
    for (line, expected) in asked {
        let (came, asked) = run(remembering(FakeMemory::default()), line).await;
        assert_eq!((came.code, asked), (0, vec![expected.to_owned(), "close".to_owned()]), "{line}");
    }
}

#[tokio::test]
async fn a_pair_is_shown_with_how_it_fades() {
    insta::assert_snapshot!(
        "pair_exploit",
        out(pair_answer(5.4, 3.1, MemoryAction::Exploit), "memory query s e").await
    );
    let value = run(remembering(pair_answer(5.4, 3.1, MemoryAction::Exploit)), "memory query s e --json")
        .await
        .0
        .json();
    assert_eq!((&value["attention"], &value["action"]), (&json!(5.4), &json!("exploit")));
    assert_eq!(value["curve"].as_array().unwrap().len(), 91);
    assert_eq!(value["records"][0]["standing"], "summed");
}

#[tokio::test]
async fn each_action_says_what_it_means() {
    let actions = [
        (0.4, 0.4, MemoryAction::Ignore, "Ignore: attention is below 0.5, so a plan is given nothing"),
        (5.0, 5.0, MemoryAction::Exploit, "Exploit: what worked is preferred"),
        (5.0, -5.0, MemoryAction::Avoid, "Avoid: what failed is not repeated"),
        (5.0, 0.0, MemoryAction::Caution, "Caution: evidence for and against is balanced: allowed with care"),
    ];
    for (attention, decision, action, words) in actions {
        let shown = out(pair_answer(attention, decision, action), "memory query s e").await;
        assert!(shown.contains(&format!("\naction    {words}\n")), "{shown}");
    }
}

#[tokio::test]
async fn a_plot_is_as_wide_as_the_terminal_and_in_its_characters() {
    let on = async |columns, is_ascii| {
        let mut world = remembering(pair_answer(5.4, -3.1, MemoryAction::Avoid));
        (world.is_terminal, world.is_ascii, world.size.columns) = (true, is_ascii, columns);
        run(world, "memory query s e").await.0.out
    };
    let ascii = on(60, true).await;
    assert!(ascii.is_ascii(), "{ascii}");
    insta::assert_snapshot!("pair_in_ascii_at_60", ascii);
    let narrow = on(12, false).await;
    assert!(narrow.contains("M_att  5.40; below 0.5 after about 47.6 d\n"), "{narrow}");
    assert!(!narrow.contains('┤'), "{narrow}");
}

#[tokio::test]
async fn a_curve_of_zeros_is_not_drawn() {
    let mut report = pair(0.0, 0.0, MemoryAction::Ignore);
    (report.rules, report.records, report.count) = (vec![], vec![], 0);
    let shown = out(answering(Answer::Pair(Box::new(report))), "memory query s e").await;
    assert!(shown.ends_with("summed    0 records\n"), "{shown}");
    let mut report = pair(1.0, 1.0, MemoryAction::Exploit);
    report.curve.clear();
    let shown = out(answering(Answer::Pair(Box::new(report))), "memory query s e").await;
    assert!(!shown.contains("if nothing comes in"), "{shown}");
}

fn some_records() -> Vec<RecordLine> {
    let mut source = record(2, "Counted\nwith the shell.");
    source.standing = Standing::Source { rule: id(9) };
    let mut demoted = rule(3, "Prefer the shell.", 1.0);
    (demoted.level_now, demoted.standing, demoted.attention) = (Level::K, Standing::Demoted, 0.5);
    let mut old = rule(4, "Count.", 1.0);
    old.standing = Standing::Superseded { by: id(9) };
    let mut faded = record(5, &"long ".repeat(200));
    (faded.standing, faded.attention, faded.megram.created_at) = (Standing::Faded, 0.05, after(-900.0));
    vec![record(1, "Counted with walk."), source, demoted, old, faded]
}

#[tokio::test]
async fn records_are_listed_with_ids_that_others_take() {
    let full = || FakeMemory { records: some_records(), ..FakeMemory::default() };
    insta::assert_snapshot!(out(full(), "memory list").await);
    let value = run(remembering(full()), "memory list --json").await.0.json();
    assert_eq!(value[1]["rule"], id(9).as_str());
    assert_eq!(value[0]["id"], id(1).as_str());
    let (came, asked) = run(remembering(full()), "memory show 4f2a91c3").await;
    assert_eq!((came.code, asked[0].as_str()), (0, "show 4f2a91c3 now"));
    assert!(came.out.contains("lesson    Prefer the shell.\n"), "{}", came.out);
    // Ids of the same time begin alike.
    let (came, _) = run(remembering(full()), "memory show 0199b2c4").await;
    assert_eq!(came.code, 2);
    assert_eq!(
        came.err,
        "error: 5 records are called \"0199b2c4\"\nhint: `setpoint memory list` shows them\n"
    );
}

#[tokio::test]
async fn a_record_is_shown_in_full_with_where_it_comes_from() {
    let mut full = record(1, "Count with walk:\nthe shell is slower.");
    full.recalled_at = Some(after(-0.5));
    let content = &mut full.megram.content;
    (content.tags, content.targets) =
        (vec!["files".to_owned(), "count".to_owned()], vec!["/home/ada/a\nb".to_owned()]);
    content.tools = vec!["shell/wc".parse().unwrap()];
    (content.plan_fingerprint, content.failed_criteria) = (Some("5f3a".to_owned()), vec!["c1".to_owned()]);
    content.approaches = vec![ApproachName {
        playbook: "count-files".to_owned(),
        approach: "walk".to_owned(),
        variant: Some("hidden".to_owned()),
    }];
    let full = || FakeMemory { records: vec![full.clone()], ..FakeMemory::default() };
    insta::assert_snapshot!("record", out(full(), "memory show 4f2a91c1").await);
    let later = out(full(), "memory show 4f2a91c1 --at +60d").await;
    assert!(later.contains("2026-11-21 03:30:00, 62.0 d before, by a task\n"), "{later}");
    // On a terminal, nothing is cut either.
    let mut world = remembering(full());
    (world.is_terminal, world.size.columns) = (true, 10);
    assert!(run(world, "memory show 4f2a91c1").await.0.out.contains(id(1).as_str()));
}

#[tokio::test]
async fn a_rule_is_shown_with_what_it_was_made_of() {
    let memory = FakeMemory {
        records: vec![rule(9, "Count with walk.", 1.0)],
        sources: some_records(),
        ..FakeMemory::default()
    };
    insta::assert_snapshot!("rule", out(memory, "memory show 4f2a91c9").await);
}

#[tokio::test]
async fn rules_say_what_still_speaks_for_them() {
    let rule_line = |record, kind, sources, tasks: u64, left| RuleLine {
        record,
        kind,
        sources,
        tasks: (0..tasks).map(|n| TaskId::mint("count the files", n)).collect(),
        left,
    };
    let mut fact = rule(10, "This repository uses pnpm.", 1.0);
    (fact.author, fact.megram.space) = (Author::Operator, "user:".to_owned());
    let rules = vec![
        rule_line(rule(8, "Count with walk.", 1.0), Some(SopKind::BestPractice), 6, 5, 4.1),
        rule_line(rule(9, "Do not pipe to csvsql.", -1.0), Some(SopKind::Constraint), 2, 1, -0.25),
        rule_line(fact, None, 0, 0, 1.0),
    ];
    let full = || FakeMemory { rules: rules.clone(), ..FakeMemory::default() };
    insta::assert_snapshot!("rules", out(full(), "memory rules").await);
    let value = run(remembering(full()), "memory rules --json").await.0.json();
    assert_eq!((&value[1]["kind"], &value[1]["left"]), (&json!("constraint"), &json!(-0.25)));
    assert_eq!((&value[2]["kind"], &value[2]["author"]), (&json!(null), &json!("operator")));
    assert_eq!(value[0]["tasks"].as_array().unwrap().len(), 5);
}
