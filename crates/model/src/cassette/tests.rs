//! Recording and playing back questions, without an organisation.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use expect_test::expect;
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::json;
use setpoint_machine::brief::{MergeBrief, PerceiveBrief};
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::prompt::Instruction;
use setpoint_machine::{Brief, ModelCall, Prompt};
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Reply, Surroundings, Usage};
use setpoint_protocol::tool::ToolCall;
use setpoint_protocol::{Any, Timestamp};

use super::canonical::Canonical;
use super::places::Places;
use super::tape::Head;
use super::*;
use crate::model::{Model, ModelError};
use crate::progress::Progress;

static STANDING: Instruction = Instruction::new("Answer.");

fn place(root: &str, minute: u32) -> Surroundings {
    Surroundings {
        cwd: format!("{root}/work"),
        home: root.to_owned(),
        workspace: format!("{root}/data/count-00000000000000{minute:02x}"),
        local_time: format!("Sunday 2026-11-22 11:{minute:02} +01:00 (Europe/Berlin)"),
        os: "linux".to_owned(),
        ..Surroundings::default()
    }
}

/// Creates a question of R4b's kind, which contains where and when it is asked.
fn question(text: &str, place: &Surroundings) -> ModelCall {
    let brief = MergeBrief {
        words: String::new(),
        criteria: vec![],
        outcomes: vec![],
        intents: vec![],
        approaches: vec![],
        surroundings: Arc::new(place.clone()),
        repair: None,
    };
    let time = format!("Local time: {}", place.local_time);
    let prompt =
        Prompt::default().system("contract", &STANDING).task("time", time, 200).data("pieces", text, 10_000);
    ModelCall {
        brief: Brief::Merge(Box::new(brief)),
        prompt,
        schema: Some("{}"),
        limits: ModelLimits::default(),
    }
}

fn perceive(text: &str) -> ModelCall {
    let brief = PerceiveBrief {
        raw_input: text.to_owned(),
        history: vec![],
        clarifications: vec![],
        title_only: false,
        may_ask: false,
        may_answer: false,
        surroundings: std::sync::Arc::default(),
        repair: None,
    };
    let prompt = Prompt::default().system("role", &STANDING).task("input", text, 10_000);
    let limits = ModelLimits::default();
    ModelCall { brief: Brief::Perceive(Box::new(brief)), prompt, schema: None, limits }
}

/// A model that gives these answers in order, and then fails.
struct ScriptedModel {
    replies: Vec<Result<Reply, ModelError>>,
    asked: AtomicUsize,
}

fn says(replies: Vec<Result<Reply, ModelError>>) -> Arc<dyn Model> {
    Arc::new(ScriptedModel { replies, asked: AtomicUsize::new(0) })
}

fn said(text: &str) -> Result<Reply, ModelError> {
    let usage = Usage { tokens_in: 10, tokens_out: 2, tokens_cached: 1 };
    Ok(Reply { parts: vec![Part::Text(text.to_owned())], usage, is_cut: false, by: None })
}

#[async_trait]
impl Model for ScriptedModel {
    async fn answer(&self, _: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        self.replies.get(at).cloned().unwrap()
    }

    fn name(&self) -> &str {
        "says"
    }
}

fn head() -> Head {
    Head::new(Timestamp::from_micros(1_700_000_000_000_000), "setpoint 0.1.0")
}

fn writer(dir: &Path, secrets: &[&str]) -> Arc<TapeWriter> {
    let secrets: Vec<SecretString> = secrets.iter().map(|secret| SecretString::from(*secret)).collect();
    Arc::new(TapeWriter::create(&dir.join("tape.jsonl"), &head(), &secrets).unwrap())
}

/// Records these questions with these answers; returns the tape's text.
async fn record(dir: &Path, asked: Vec<(ModelCall, Result<Reply, ModelError>)>) -> String {
    let (calls, replies): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let tape = writer(dir, &[]);
    let recorder = Recorder::new(says(replies), Arc::clone(&tape));
    for call in &calls {
        let _recorded = recorder.answer(call, &Progress::none()).await;
    }
    assert!(tape.trouble().is_none(), "{:?}", tape.trouble());
    std::fs::read_to_string(dir.join("tape.jsonl")).unwrap()
}

fn tape(text: &str) -> Arc<Tape> {
    Arc::new(Tape::of(Path::new("tape.jsonl"), text.as_bytes()).unwrap())
}

fn player(text: &str) -> Player {
    Player::new(tape(text), "recorded")
}

async fn ask(player: &Player, call: &ModelCall) -> Result<String, String> {
    let answered = player.answer(call, &Progress::none()).await;
    answered.map(|reply| reply.text()).map_err(|error| {
        assert_eq!((error.failure.kind, error.again_after), (ModelFailureKind::Unable, None));
        error.failure.reason
    })
}

#[tokio::test]
async fn an_answer_is_played_where_and_when_it_was_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (place("/srv/ada", 5), place("/srv/bob", 59));
    let id = |digit: &str| format!("{0}-{1}-{1}-{1}-{2}", digit.repeat(8), digit.repeat(4), digit.repeat(12));
    let text = |place: &Surroundings, digit: &str, ms: u32| {
        format!(
            "in {}/a and {} by {} at 2026-11-22T11:0{digit}:00Z\nr3.1/1 attempt 1 ls ok {ms} ms {{}}",
            place.cwd,
            place.workspace,
            id(digit)
        )
    };
    let call = |place: &Surroundings, digit: &str| {
        let input = Any(json!({ "path": format!("{}/b", place.cwd), "of": [id(digit)] }));
        Part::ToolCall(ToolCall { tool: "list".to_owned(), input }.into())
    };
    let answer = Reply {
        parts: vec![
            Part::Text(format!("{}/a at 2026-11-22T11:01:00Z, {} {{cwd}}", here.cwd, here.local_time)),
            call(&here, "1"),
        ],
        usage: Usage { tokens_in: 7, tokens_out: 3, tokens_cached: 0 },
        is_cut: true,
        by: None,
    };
    let recorded = record(dir.path(), vec![(question(&text(&here, "1", 4), &here), Ok(answer))]).await;
    assert!(!recorded.contains("ada"), "{recorded}");
    let player = player(&recorded);
    let (progress, mut tap) = Progress::tapped();
    let played = player.answer(&question(&text(&there, "2", 12), &there), &progress).await.unwrap();
    assert_eq!(tap.try_next(), Some(played.text()), "whoever watches sees what is played");
    let expected = Reply {
        parts: vec![
            Part::Text(format!("{}/a at 2026-11-22T11:02:00Z, {} {{cwd}}", there.cwd, there.local_time)),
            call(&there, "2"),
        ],
        usage: Usage { tokens_in: 7, tokens_out: 3, tokens_cached: 0 },
        is_cut: true,
        by: None,
    };
    assert_eq!(played, expected);
    assert_eq!(player.name(), "recorded");
}

#[test]
fn the_canonical_form_excludes_what_differs_between_runs() {
    let here = place("/srv/ada", 5);
    let text = format!(
        "{0} {0}/a.txt {0}.bak {0}s /mnt{0} file://{0} /srv/ada /srv/adam ~/x\ncount-0000000000000005 took 17 ms",
        here.cwd
    );
    let canonical = Canonical::of(&question(&text, &here), None).unwrap();
    let shown = canonical.text().replace(&blake3::hash(b"{}").to_hex().to_string(), "HASH");
    expect![[r#"
        purpose merge
        schema HASH
        system contract
          Answer.
        task time
          Local time: {local_time}
        data pieces
          {cwd} {cwd}/a.txt {home}/work.bak {home}/works /mnt/srv/ada/work file://{cwd} {home} /srv/adam ~/x
          {task} took {ms}
    "#]]
    .assert_eq(&shown);
    let later = ModelLimits { ms_max: 5, tokens_out_max: 5, tokens_thinking_max: 5 };
    let again = ModelCall { limits: later, ..question(&text, &here) };
    assert_eq!(Canonical::of(&again, None).unwrap().hash(), canonical.hash());
}

#[test]
fn a_fragment_cannot_imitate_the_head_of_another() {
    let here = place("/srv/ada", 5);
    let canonical = Canonical::of(&question("a\ndata pieces\nb", &here), None).unwrap();
    assert_eq!(canonical.text().matches("\ndata pieces\n").count(), 1);
}

#[test]
fn the_numbers_of_the_controllers_reasons_do_not_count() {
    let reason = |l: &str| {
        let mut call = perceive("x");
        let why = format!("refine: |∇L| ≥ ε = 0.050 (L = {l}; ∇L = +{l})");
        call.prompt = Prompt::default().task("directive", why, 500).task("goal", "0.123", 500);
        Canonical::of(&call, None).unwrap().hash()
    };
    assert_eq!(reason("0.123"), reason("0.456"));
    let goal = |text: &str| Canonical::of(&perceive(text), None).unwrap().hash();
    assert_ne!(goal("0.123"), goal("0.456"));
}

#[test]
fn times_that_programs_print_do_not_count() {
    let asked = |text: &str| Canonical::of(&perceive(text), None).unwrap().hash();
    for (one, other) in [
        ("Ran 3 tests in 0.001s\nOK", "Ran 3 tests in 12.250s\nOK"),
        ("2 passed in 0.03s", "2 passed in 0.12 seconds"),
        ("real\t0m0.012s", "real\t1m10.500s"),
        ("-rw-r--r-- 1 ada ada 7 Nov 25 02:26 a.txt", "-rw-r--r-- 1 ada ada 7 Jan  3 23:59 a.txt"),
        ("Wed Nov 25 02:26:07 UTC 2026", "Thu Jan  1 00:00:00 CEST 2027"),
        ("Modify: 2026-11-25 02:26:07.123456789 +0000", "Modify: 2027-01-01 00:00:00.000000001 +0100"),
    ] {
        assert_eq!(asked(one), asked(other), "{one}");
    }
    // Other numbers, which are not times of a run, count.
    for (one, other) in [
        ("wait 0.5s", "wait 0.6s"),
        ("a.txt of Jan  2  2024", "a.txt of Jan  3  2024"),
        ("Ran 3 tests in 0.001s", "Ran 4 tests in 0.001s"),
        ("1.25 seconds-hands", "1.25 secondhand"),
    ] {
        assert_ne!(asked(one), asked(other), "{one}");
    }
}

#[tokio::test]
async fn each_answer_is_given_once_and_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    let again = ModelError {
        failure: ModelFailure {
            kind: ModelFailureKind::Unavailable,
            reason: "busy".to_owned(),
            hints: vec![],
        },
        again_after: Some(Duration::from_millis(250)),
    };
    let asked = vec![
        (perceive("a"), Err(again.clone())),
        (perceive("b"), said("to b")),
        (perceive("a"), said("first to a")),
        (perceive("a"), said("second to a")),
    ];
    let player = player(&record(dir.path(), asked).await);
    assert_eq!(player.answer(&perceive("a"), &Progress::none()).await, Err(again));
    assert_eq!(ask(&player, &perceive("a")).await.unwrap(), "first to a");
    assert_eq!(ask(&player, &perceive("a")).await.unwrap(), "second to a");
    let miss = ask(&player, &perceive("a")).await.unwrap_err();
    expect![
        "the recording has no answer to question 4 of `perceive`: it was recorded 3 time(s), and each recorded answer is used once"
    ]
    .assert_eq(&miss);
    assert_eq!(ask(&player, &perceive("b")).await.unwrap(), "to b");
}

#[tokio::test]
async fn a_miss_names_the_nearest_question_and_quotes_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let here = place("/srv/ada", 5);
    let recorded = record(
        dir.path(),
        vec![
            (perceive("count the files here"), said("SAID-1")),
            (perceive("something else entirely"), said("SAID-2")),
            (question("an output of a model", &here), said("SAID-3")),
        ],
    )
    .await;
    let player = player(&recorded);
    let task = ask(&player, &perceive("count the folders here")).await.unwrap_err();
    let block = ask(&player, &question("ANOTHER output", &here)).await.unwrap_err();
    let longer = perceive(&format!("count the files here\n\u{1b}[31m{}", "x".repeat(1_000)));
    let longer = ask(&player, &longer).await.unwrap_err();
    expect![[r#"
        the recording has no answer to question 1 of `perceive`: the nearest is in line 2 of tape.jsonl and differs first in line 5 of the question, in `task input`: recorded `count the files here`, asked `count the folders here`
        the recording has no answer to question 1 of `merge`: the nearest is in line 4 of tape.jsonl and differs first in line 8 of the question, in `data pieces`
        the recording has no answer to question 2 of `perceive`: the nearest is in line 2 of tape.jsonl and differs first in line 6 of the question, in `task input`: recorded nothing more, asked ` [31mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`"#]]
    .assert_eq(&format!("{task}\n{block}\n{longer}"));
    assert!(!format!("{task}{block}{longer}").contains("SAID"));
    let other = Tape::of(Path::new("t"), recorded.lines().next().unwrap().as_bytes()).unwrap();
    let other = Player::new(Arc::new(other), "recorded");
    let none = ask(&other, &perceive("a")).await.unwrap_err();
    expect!["the recording has no answer to question 1 of `perceive`: it has none of `perceive` at all"]
        .assert_eq(&none);
}

#[tokio::test]
async fn secrets_are_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let secret = "sk-live-0123456789\"abcdef";
    let tape = writer(dir.path(), &[secret]);
    let coded = serde_json::to_string(&json!({ "key": secret })).unwrap();
    let failure = ModelFailure {
        kind: ModelFailureKind::Refused,
        reason: format!("the key {secret} is wrong"),
        hints: vec![secret.to_owned()],
    };
    let replies = vec![said(&format!("{secret} {coded}")), Err(failure.into())];
    let recorder = Recorder::new(says(replies), Arc::clone(&tape));
    let call = perceive(&format!("use {secret}"));
    let answered = recorder.answer(&call, &Progress::none()).await.unwrap();
    assert!(answered.text().contains(secret), "what is recorded changes no answer");
    let _refused = recorder.answer(&call, &Progress::none()).await.unwrap_err();
    assert!(tape.trouble().is_none());
    let text = std::fs::read_to_string(tape.path()).unwrap();
    assert!(!text.contains("0123456789"), "{text}");
    assert_eq!(text.matches("{secret}").count(), 6, "{text}");
    // The question contains the secret and the tape does not, but the hash still matches.
    assert!(ask(&player(&text), &call).await.unwrap().starts_with("{secret} "));
}

#[test]
fn a_file_is_its_owners_alone_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.jsonl");
    let tape = TapeWriter::create(&path, &head(), &[]).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    drop(tape);
    let error = TapeWriter::create(&path, &head(), &[]).unwrap_err();
    assert!(matches!(error, TapeError::Exists { .. }));
    assert!(error.to_string().ends_with("never overwritten; name another file, or remove it"), "{error}");
    let nowhere = TapeWriter::create(&dir.path().join("no/such/folder"), &head(), &[]).unwrap_err();
    assert!(matches!(nowhere, TapeError::Write { .. }));
}

#[tokio::test]
async fn a_failed_recording_ends_but_still_returns_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let tape = writer(dir.path(), &[]);
    let long = "x".repeat(LINE_BYTES_MAX);
    let recorder = Recorder::new(says(vec![said("a"), said(&long), said("b")]), Arc::clone(&tape));
    for expected in ["a", &long, "b"] {
        let reply = recorder.answer(&perceive("a"), &Progress::none()).await.unwrap();
        assert_eq!(reply.text().len(), expected.len());
    }
    let trouble = tape.trouble().unwrap();
    assert!(matches!(*trouble, TapeError::LineTooLong { line: 3, .. }), "{trouble}");
    assert_eq!(tape.exchanges(), 1);
    assert_eq!(Tape::read(tape.path()).unwrap().exchanges().len(), 1);
}

#[tokio::test]
async fn a_tape_that_breaks_off_is_played_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    let asked = vec![(perceive("a"), said("to a")), (perceive("b"), said("to b"))];
    let text = record(dir.path(), asked).await;
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for end in [last + 1, text.len() / 2 + last / 2, text.len() - 2] {
        let tape = tape(text.get(..end).unwrap());
        assert_eq!(tape.notice().unwrap(), "tape.jsonl breaks off in line 3; it is played up to there");
        let player = Player::new(Arc::clone(&tape), "recorded");
        assert_eq!(ask(&player, &perceive("a")).await.unwrap(), "to a");
        let miss = ask(&player, &perceive("b")).await.unwrap_err();
        assert!(miss.ends_with("; tape.jsonl breaks off in line 3; it is played up to there"), "{miss}");
    }
    // Only the last line end is missing.
    let whole = tape(text.trim_end());
    assert_eq!((whole.notice(), whole.left()), (None, 2));
}

#[tokio::test]
async fn hostile_tapes_are_refused_by_line_and_not_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let text = record(dir.path(), vec![(perceive("a"), said("to a"))]).await;
    let (first, rest) = text.split_once('\n').unwrap();
    let refused = |text: &str| {
        let error = Tape::of(Path::new("t"), text.as_bytes()).unwrap_err().to_string();
        assert!(!error.contains("EVIL"), "{error}");
        error
    };
    let deep = format!("{first}\n{}\n{rest}", "[".repeat(100_000));
    let long = format!("{first}\n\"{}\"\n{rest}", "x".repeat(LINE_BYTES_MAX));
    let refusals = [
        refused(""),
        refused("EVIL\n"),
        refused(&rest.replace("to a", "EVIL")),
        refused(&first.replace("cassette", "EVIL")),
        refused(&first.replace("\"version\":1", "\"version\":2")),
        refused(&format!("{first}\nEVIL\n{rest}")),
        refused(&format!("{first}\n\n{rest}")),
        refused(&text.replace("\"perceive\"", "\"EVIL\"")),
        refused(&text.replace("\"reply\"", "\"EVIL\"")),
        refused(&text.replace("\"parts\":[", "\"parts\":[{\"EVIL\":1},")),
        refused(&deep),
        refused(&long),
    ]
    .join("\n");
    expect![[r#"
        play t: it is not a recording of models
        play t: it is not a recording of models
        play t: it is not a recording of models
        play t: it is not a recording of models
        play t: it is of version 2, and this program reads up to 1; record it again, or use the newer program
        play t: line 2 is not a recorded exchange (column 1)
        play t: line 2 is not a recorded exchange (column 0)
        play t: line 2 is not a recorded exchange (column 94)
        play t: line 2 is not a recorded exchange (column 200)
        play t: line 2 is not a recorded exchange (column 219)
        play t: line 2 is not a recorded exchange (column 1)
        hold one exchange of t: line 2 has more than 16777216 bytes"#]]
    .assert_eq(&refusals);
    let bytes = [first.as_bytes(), b"\n\xff\xfe\n"].concat();
    assert!(matches!(Tape::of(Path::new("t"), &bytes), Err(TapeError::Line { line: 2, .. })));
    assert!(matches!(Tape::read(dir.path()), Err(TapeError::Read { .. })));
    assert!(matches!(Tape::read(&PathBuf::from("/no/such/tape")), Err(TapeError::Read { .. })));
    // A placeholder that stands for nothing stays what it is.
    let strange = text.replace("to a", "{id:9} {time:0} {id:99999999999999999999} {cwd} {!ms}");
    let played = ask(&player(&strange), &perceive("a")).await.unwrap();
    assert_eq!(played, "{id:9} {time:0} {id:99999999999999999999} {cwd} {ms}");
}

#[tokio::test]
async fn tapes_over_the_limits_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = record(dir.path(), vec![(perceive("a"), said("to a"))]).await;
    let (first, line) = text.split_once('\n').unwrap();
    let many = format!("{first}\n{}", line.repeat(EXCHANGES_MAX + 1));
    let error = Tape::of(Path::new("t"), many.as_bytes()).unwrap_err();
    assert!(matches!(error, TapeError::Full { .. }), "{error}");
}

/// Generates text with many values that are replaced.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/srv/ada",
        "/srv/ada/work",
        "/srv/ada/data/count-0000000000000005",
        "count-0000000000000005",
        "Sunday 2026-11-22 11:05 +01:00 (Europe/Berlin)",
        "0189aaaa-1111-7222-8333-444455556666",
        "2026-11-22T11:05:00Z",
        "2026-11-22T11:05:00.5+01:00",
        "12 ms",
        "{cwd}",
        "{!cwd}",
        "{id:1}",
        "{time:1}",
        "{ms}",
        "{",
        "}",
        "!",
        "/",
        ".",
        "a",
        "1",
        " ",
        "ü",
        "-",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Showing a hidden answer restores it, whatever the question contained.
    #[test]
    fn hidden_text_is_shown_again(question in text(), answer in text()) {
        let here = place("/srv/ada", 5);
        let mut places = Places::of(Some(&here)).unwrap();
        let _hidden = places.hide(&question);
        prop_assert_eq!(places.show(&places.hide_known(&answer)), answer);
    }

    /// Two runs that differ only in where and when they are ask the same question.
    #[test]
    fn a_question_is_the_same_wherever_it_is_asked(pieces in prop::collection::vec(0..6_usize, 0..12)) {
        let asked = |place: &Surroundings, id: &str, time: &str| {
            let words = [&place.cwd, &place.home, &place.workspace, &place.local_time, id, time];
            let words: Vec<&str> = pieces.iter().map(|at| words[*at]).collect();
            Canonical::of(&question(&words.join(" "), place), None).unwrap().hash()
        };
        let here = asked(&place("/srv/ada", 5), "0189aaaa-1111-7222-8333-444455556666", "2026-11-22T11:05:00Z");
        let there = asked(&place("/srv/b", 59), "0189bbbb-1111-7222-8333-444455556666", "2027-01-01T00:00:00.25+02:00");
        prop_assert_eq!(here, there);
    }
}
