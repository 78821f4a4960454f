//! Commands that change memory: facts, forgetting, dreaming, approving.

use serde_json::json;
use setpoint_cli::io::Key;
use setpoint_memory::view::*;
use setpoint_protocol::message::Level;

use super::{assert_safe, out, remembering, run};
use crate::support::memory::*;
use crate::support::world::World;

#[tokio::test]
async fn a_fact_is_stated_in_words_or_on_stdin() {
    let told = format!("remembered as {}: every task reads it from now on\n", id(7));
    assert_eq!(out(FakeMemory::default(), "memory remember this repo uses pnpm").await, told);
    let asked = [
        ("memory remember this repo uses pnpm", "remember \"this repo uses pnpm\" []"),
        ("memory remember 'two  spaces' --tag a --tag 'b c'", "remember \"two  spaces\" [\"a\", \"b c\"]"),
        ("memory remember -", "remember \"from\\nstdin\" []"),
        ("memory remember --tag x -- --odd -", "remember \"--odd -\" [\"x\"]"),
    ];
    for (line, expected) in asked {
        let mut world = remembering(FakeMemory::default());
        world.stdin = b"from\nstdin\n".to_vec();
        let (came, asked) = run(world, line).await;
        assert_eq!((came.code, asked), (0, vec![expected.to_owned(), "close".to_owned()]), "{line}");
    }
}

#[tokio::test]
async fn a_known_fact_is_reported_as_known() {
    let known = || FakeMemory { is_known: true, ..FakeMemory::default() };
    assert_eq!(
        out(known(), "memory remember x").await,
        format!("known already as {}: every task reads it, and nothing was written\n", id(7))
    );
    let value = run(remembering(known()), "memory remember x --json").await.0.json();
    assert_eq!(value, json!({ "id": id(7), "is_known": true }));
}

#[tokio::test]
async fn an_invalid_fact_is_refused_before_memory_is_opened() {
    let stdin = [
        (&b" \n"[..], "the fact is empty"),
        (b"a\xff", "the fact in stdin is not UTF-8: byte 1 is not part of a character"),
        (&[b'x'; 262_145], "the fact is longer than 262144 bytes"),
    ];
    for (bytes, message) in stdin {
        let mut world = remembering(FakeMemory::default());
        world.stdin = bytes.to_vec();
        let (came, asked) = run(world, "memory remember -").await;
        assert_eq!((came.code, asked.len()), (2, 0));
        assert!(came.err.starts_with(&format!("error: {message}\nhint: ")), "{}", came.err);
    }
}

fn two() -> FakeMemory {
    FakeMemory { records: vec![record(1, "first"), record(2, "second\nline")], ..FakeMemory::default() }
}

/// Returns a world in which a person presses these keys at the question.
fn pressing(keys: Vec<Key>) -> World {
    let mut world = remembering(two());
    (world.is_terminal, world.keys) = (true, vec![keys].into());
    world
}

#[tokio::test(start_paused = true)]
async fn what_goes_is_shown_and_asked_about() {
    let (came, asked) =
        run(pressing(vec![Key::Char('x'), Key::Enter, Key::Char('y')]), "memory forget 4f2a91c1 4f2a91c2")
            .await;
    assert_eq!(
        (came.code, came.out.as_str()),
        (0, "forgot  4f2a91c1  first\nforgot  4f2a91c2  second line\n")
    );
    let forgotten = format!("forget {} {}", id(1), id(2));
    assert_eq!(asked, ["show 4f2a91c1 now", "show 4f2a91c2 now", forgotten.as_str(), "close"]);
    insta::assert_snapshot!(came.err.replace('\u{1b}', "ESC").replace('\r', "CR"));
    let (came, _) = run(pressing(vec![Key::Char('Y')]), "memory forget 4f2a91c1").await;
    assert!(came.err.contains("Delete this record permanently? It cannot be restored.\n"), "{}", came.err);
    assert_eq!(came.code, 0);
}

#[tokio::test(start_paused = true)]
async fn a_yes_in_a_pasted_word_deletes_nothing() {
    let keys = vec![Key::Char('w'), Key::Char('y'), Key::Enter, Key::Pause, Key::Char('n'), Key::Pause];
    let (came, _) = run(pressing(keys), "memory forget 4f2a91c1").await;
    assert!(came.err.ends_with("> no\r\nnothing was forgotten\n"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn only_a_yes_deletes() {
    let no = [Key::Char('n'), Key::Char('N'), Key::Enter, Key::Escape, Key::EndOfInput];
    for key in no {
        let (came, asked) = run(pressing(vec![Key::Resize, key.clone()]), "memory forget 4f2a91c1").await;
        assert_eq!((came.code, came.out.as_str()), (0, ""), "{key:?}");
        assert!(came.err.ends_with("> no\r\nnothing was forgotten\n"), "{key:?}: {}", came.err);
        assert_eq!(asked, ["show 4f2a91c1 now", "close"], "{key:?}");
    }
    let (came, asked) = run(pressing(vec![Key::Interrupt, Key::Char('y')]), "memory forget 4f2a91c1").await;
    assert_eq!((came.code, asked.len()), (130, 2));
    // A terminal that closes before the answer does not mean yes either.
    let mut world = pressing(vec![]);
    world.keys.clear();
    let (came, asked) = run(world, "memory forget 4f2a91c1").await;
    assert_eq!((came.code, asked.len()), (2, 2));
    assert!(came.err.contains("hint: `--yes` deletes without asking; nothing was deleted\n"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn without_a_terminal_deleting_needs_yes() {
    let told = "error: cannot ask before deleting: there is no terminal\n\
                hint: `--yes` deletes them without asking; `setpoint memory show ID` shows a record in full\n";
    let (came, asked) = run(remembering(two()), "memory forget 4f2a91c1").await;
    assert_eq!((came.code, came.err.as_str(), asked.len()), (2, told, 0));
    let (came, asked) = run(pressing(vec![Key::Char('y')]), "memory forget 4f2a91c1 --json").await;
    assert_eq!((came.code, &came.json()["error"]["kind"], asked.len()), (2, &json!("usage"), 0));
    for world in [remembering(two()), pressing(vec![])] {
        let (came, _) = run(world, "memory forget --yes 4f2a91c1").await;
        assert_eq!((came.code, came.out.as_str(), came.err.as_str()), (0, "forgot  4f2a91c1  first\n", ""));
    }
    let (came, _) = run(remembering(two()), "memory forget 4f2a91c1 --yes --json").await;
    assert_eq!(came.json()[0]["id"], id(1).as_str());
}

/// The age comes from the command line, else from the configuration; without a terminal `--yes` consents.
#[tokio::test(start_paused = true)]
async fn pruning_needs_an_age_and_consent() {
    for (line, told) in [
        ("memory prune --yes", "`retention.memory = \"90d\"`"),
        ("tasks prune --yes", "`retention.tasks = \"90d\"`"),
        ("memory prune --older-than 0d", "`--yes` prunes without asking"),
        ("tasks prune --older-than 0d", "`--yes` prunes without asking"),
    ] {
        let (came, asked) = run(remembering(two()), line).await;
        assert_eq!((came.code, came.out.as_str(), asked.len()), (2, "", 0), "{line}");
        assert!(came.err.contains(told), "{line}: {}", came.err);
    }
    let configured = || {
        let mut world = remembering(two());
        world.host.desk.retention_ms = Some(5_000);
        world
    };
    let forgotten = format!("forget {} {}", id(1), id(2));
    let (came, asked) = run(configured(), "memory prune --yes").await;
    assert_eq!(came.out, "forgot 2 records\n");
    assert_eq!(asked, ["prunable 5000", forgotten.as_str(), "close"]);
    let (came, asked) = run(configured(), "memory prune --older-than 1h --dry-run").await;
    assert_eq!(asked, ["prunable 3600000", "close"]);
    assert!(came.err.contains(" would be pruned"), "{}", came.err);
    let (came, asked) = run(remembering(FakeMemory::default()), "memory prune --older-than 1h --yes").await;
    assert_eq!(asked, ["prunable 3600000", "close"]);
    assert!(came.err.contains("nothing to prune that was learnt before "), "{}", came.err);
    let came = World::headless(crate::support::organisation::Fake::with(vec![]));
    let came = came.run("tasks prune --older-than 1h --yes").await;
    assert!(came.err.contains("no task to prune that ended before "), "{}", came.err);
}

#[tokio::test]
async fn a_missing_record_stops_the_deletion_of_all() {
    let (_, asked) =
        run(remembering(two()), &format!("memory forget 4F2A91C1 {} 4f2a91c2 --yes", id(1))).await;
    assert_eq!(asked[3], format!("forget {} {}", id(1), id(2)));
    let (came, asked) = run(remembering(two()), "memory forget 4f2a91c1 dead --yes").await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert_eq!(asked, ["show 4f2a91c1 now", "show dead now", "close"]);
}

#[tokio::test(start_paused = true)]
async fn a_hostile_record_can_be_asked_about() {
    let mut world = pressing(vec![Key::Enter]);
    world.host.memory = FakeMemory { records: vec![hostile(1)], ..FakeMemory::default() }.into();
    let (came, _) = run(world, "memory forget 4f2a91c1").await;
    let shown = came.err.split("Delete this record").next().unwrap();
    assert_safe(shown);
    assert!(shown.contains("␛[2J"), "{shown}");
    assert!(shown.lines().all(|line| setpoint_cli::text::columns::width(line) <= 100), "{shown}");
}

fn dreaming(dreamt: DreamReport) -> FakeMemory {
    FakeMemory { dreamt, ..FakeMemory::default() }
}

#[tokio::test]
async fn a_pass_of_the_dreamer_says_what_it_did() {
    let dreamt = || DreamReport {
        demoted: vec![rule(3, "Prefer the shell.", 1.0)],
        promoted: vec![rule(9, "Count with walk.", 1.0), rule(10, "Do not\npipe.", -1.0)],
        faded: 1_200,
        outputs: 1,
        duration_ms: 2_345,
        ..DreamReport::default()
    };
    insta::assert_snapshot!("dream", out(dreaming(dreamt()), "memory dream").await);
    let value = run(remembering(dreaming(dreamt())), "memory dream --json").await.0.json();
    assert_eq!((&value["faded"], &value["promoted"][1]["sigma"]), (&json!(1_200), &json!(-1.0)));
    let idle = DreamReport { duration_ms: 3, ..DreamReport::default() };
    assert_eq!(out(dreaming(idle), "memory dream").await, "nothing had to be done (3 ms)\n");
    let elsewhere = || DreamReport { is_elsewhere: true, ..DreamReport::default() };
    assert_eq!(
        out(dreaming(elsewhere()), "memory dream").await,
        "another process runs the Dreamer: nothing was done here\n"
    );
    let value = run(remembering(dreaming(elsewhere())), "memory dream --json").await.0.json();
    assert_eq!(value["is_elsewhere"], true);
}

#[tokio::test]
async fn a_person_learns_that_dreaming_takes_a_while() {
    let told = async |line: &str, is_terminal| {
        let mut world = remembering(FakeMemory::default());
        world.is_terminal = is_terminal;
        run(world, line).await.0.err
    };
    assert!(told("memory dream", true).await.starts_with("the Dreamer is running"));
    assert_eq!(told("memory dream --quiet", true).await, "");
    assert_eq!(told("memory dream", false).await, "");
}

#[tokio::test]
async fn proposals_are_listed_and_approved() {
    let mut proposal = record(4, "Answer in\nfull sentences.");
    (proposal.megram.level, proposal.level_now) = (Level::T, Level::T);
    proposal.standing = Standing::Proposed;
    let full = || FakeMemory { proposals: vec![proposal.clone()], ..FakeMemory::default() };
    let (came, asked) = run(remembering(full()), "memory approve").await;
    assert_eq!((came.code, asked), (0, vec!["proposals".to_owned(), "close".to_owned()]));
    insta::assert_snapshot!("proposals", came.out);
    assert!(came.err.contains("`setpoint memory approve ID` approves it"), "{}", came.err);
    let value = run(remembering(full()), "memory approve --json").await.0.json();
    assert_eq!(value[0]["standing"], "proposed");
    let (came, asked) = run(remembering(full()), "memory approve 91c4").await;
    assert_eq!(asked[1], format!("approve {}", id(4)));
    assert_eq!(
        came.out,
        "approved 4f2a91c4: every role with a model reads it, in tasks started from now on\n\
         Answer in\nfull sentences.\n"
    );
    let value = run(remembering(full()), "memory approve 91c4 --json").await.0.json();
    assert_eq!(value["id"], id(4).as_str());
    let (came, asked) = run(remembering(full()), "memory approve dead").await;
    assert_eq!((came.code, asked.len()), (2, 2));
}
