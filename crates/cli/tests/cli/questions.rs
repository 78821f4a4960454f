//! Questions to a person: asked on a terminal, answered by a policy, refused if no person can be asked.

use setpoint_cli::io::Key;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::tool::Source;
use setpoint_protocol::topology::{Kind, Payload};

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::world::{World, typed};

/// Returns a task that asks once, and ends after the answer, with its beats.
fn asking(
    question: impl Into<Payload>,
    from: setpoint_protocol::RoleId,
    answered: Kind,
) -> (Tape, Vec<Beat>) {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up"));
    tape.say(from, 1, question);
    let before = tape.records.len();
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    (tape, vec![Beat::Tell(before), Beat::AwaitSaid(answered), Beat::TellRest])
}

fn wants_to(command: &str) -> (Tape, Vec<Beat>) {
    asking(approval("r3.1/2", command, &["/w/build", "/w/\u{202e}x"]), Executor, Kind::ApprovalDecision)
}

fn decided(fake: &Fake) -> (ApprovalWord, String, String) {
    match fake.said().as_slice() {
        [Payload::ApprovalDecision(decision)] => {
            assert_eq!(decision.call_id, id("r3.1/2"));
            (decision.decision, decision.digest.clone(), decision.by.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn headless_what_the_policy_does_not_cover_is_refused() {
    let cases = [
        ("run tidy", "rm -rf build", ApprovalWord::Never, "headless"),
        ("run --json tidy", "rm -rf build", ApprovalWord::Never, "headless"),
        ("run --approve approve.toml tidy", "rm -rf dist", ApprovalWord::Never, "headless"),
        ("run --approve approve.toml tidy", "rm -rf build", ApprovalWord::Once, "file:approve.toml:2"),
        ("run --approve approve.toml tidy", "rm -rf build/keep", ApprovalWord::Never, "file:approve.toml:3"),
    ];
    for (line, command, word, by) in cases {
        let (tape, beats) = wants_to(command);
        let fake = Fake::starting(tape, beats);
        let came = World::headless(fake.clone()).run(line).await;
        assert_eq!(came.code, 0, "{line}");
        assert_eq!(decided(&fake), (word, format!("digest of {command}"), by.to_owned()), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn json_on_a_terminal_asks_nobody() {
    let (tape, beats) = wants_to("rm -rf build");
    let fake = Fake::starting(tape, beats);
    let came = World::on_terminal(fake.clone(), vec![typed("y")]).run("run --json tidy").await;
    assert_eq!(decided(&fake).0, ApprovalWord::Never);
    assert!(!fake.goals.lock().unwrap()[0].interactive);
    came.json();
}

#[tokio::test(start_paused = true)]
async fn an_approval_shows_everything_and_takes_one_key() {
    let cases = [
        (typed("y"), ApprovalWord::Once),
        (typed("T"), ApprovalWord::ForTask),
        (typed("n"), ApprovalWord::Never),
        (typed("\n"), ApprovalWord::Never),
        (
            vec![Key::Char('x'), Key::Escape, Key::Paste("y".to_owned()), Key::Delete, Key::Char('y')],
            ApprovalWord::Once,
        ),
        // Not every terminal marks a paste. What arrives together with a line that does not answer is ignored, too.
        (
            vec![
                Key::Char('x'),
                Key::Enter,
                Key::Char('y'),
                Key::Enter,
                Key::Pause,
                Key::Char('n'),
                Key::Pause,
            ],
            ApprovalWord::Never,
        ),
        (vec![Key::Char('x'), Key::Enter, Key::Pause, Key::Char('y'), Key::Pause], ApprovalWord::Once),
        // A pasted text that begins with the key of an answer.
        (
            vec![
                Key::Char('y'),
                Key::Char('e'),
                Key::Char('s'),
                Key::Enter,
                Key::Pause,
                Key::Char('n'),
                Key::Pause,
            ],
            ApprovalWord::Never,
        ),
    ];
    for (keys, word) in cases {
        let (tape, beats) = wants_to("rm -rf 'build\r\u{1b}[8m'");
        let fake = Fake::starting(tape, beats);
        let came = World::on_paper(fake.clone(), vec![keys.clone()]).run("run tidy").await;
        assert_eq!(decided(&fake).0, word, "{keys:?}");
        assert_eq!(decided(&fake).2, "terminal");
        if word == ApprovalWord::Once {
            assert!(came.err.contains("rm -rf 'build\\r\\u{1b}[8m'"), "{}", came.err);
            assert!(came.err.contains("/w/\\u{202e}x"), "{}", came.err);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_sees_of_an_approval() {
    let (tape, beats) = wants_to("rm -rf build");
    let came = World::on_paper(Fake::starting(tape, beats), vec![typed("t")]).run("run tidy").await;
    insta::assert_snapshot!(readable(&came.err));
}

#[tokio::test(start_paused = true)]
async fn the_question_names_the_hosts_of_a_fetch() {
    let mut request = approval("r3.1/2", "GET https://docs.example.org/?q", &[]);
    request.need.hosts = vec!["docs.example.org".to_owned()];
    request.need.after = vec![Source::Web("a.example".to_owned()), Source::Server("s".to_owned())];
    let (tape, beats) = asking(request, Executor, Kind::ApprovalDecision);
    let came = World::on_paper(Fake::starting(tape, beats), vec![typed("n")]).run("run tidy").await;
    let shown = readable(&came.err);
    let wanted = "  GET https://docs.example.org/?q\nconnects to:\n  docs.example.org\n\
                  the task has read:\n  pages of a.example\n  the MCP server s\nbecause: ";
    assert!(shown.contains(wanted), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn on_a_terminal_the_policy_is_asked_first_and_then_the_person() {
    for (command, keys, word, by) in [
        ("rm -rf build", vec![], ApprovalWord::Once, "file:approve.toml:2"),
        ("rm -rf dist", vec![typed("y")], ApprovalWord::Once, "terminal"),
        // What the file denies is not asked.
        ("rm -rf build/keep", vec![], ApprovalWord::Never, "file:approve.toml:3"),
    ] {
        let (tape, beats) = wants_to(command);
        let fake = Fake::starting(tape, beats);
        World::on_paper(fake.clone(), keys).run("run --approve approve.toml tidy").await;
        assert_eq!(decided(&fake), (word, format!("digest of {command}"), by.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn clarifications_are_asked_question_by_question() {
    let (tape, beats) =
        asking(clarification("r1/2", &["Which file?", "Which range?"]), Perceiver, Kind::ClarificationAnswer);
    let fake = Fake::starting(tape, beats);
    let came = World::on_paper(fake.clone(), vec![typed("the 日本 one\n\n")]).run("run tidy").await;
    let answer = ClarificationAnswer {
        call_id: id("r1/2"),
        answers: vec!["the 日本 one".to_owned(), String::new()],
    };
    assert_eq!(fake.said(), [Payload::ClarificationAnswer(answer)]);
    insta::assert_snapshot!(readable(&came.err));
}

#[tokio::test(start_paused = true)]
async fn headless_a_clarification_stays_open() {
    let (tape, beats) = asking(clarification("r1/2", &["Which file?"]), Perceiver, Kind::ClarificationAnswer);
    let fake = Fake::starting(tape, beats);
    World::headless(fake.clone()).run("run tidy").await;
    let answer = ClarificationAnswer { call_id: id("r1/2"), answers: vec![] };
    assert_eq!(fake.said(), [Payload::ClarificationAnswer(answer)]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_run_refused_or_changed() {
    let note = |text: &str| Some(text.to_owned());
    let cases = [
        (typed("y"), true, None),
        (typed("\n\nn"), false, None),
        (typed("cuse fd\n"), false, note("use fd")),
        // An empty note, or a note that was abandoned, leaves the question open.
        (typed("c\ny"), true, None),
        (vec![Key::Char('c'), Key::Char('x'), Key::Escape, Key::Char('y')], true, None),
    ];
    for (keys, approved, note) in cases {
        let (tape, beats) = asking(proposal("r2/3"), Planner, Kind::PlanDecision);
        let fake = Fake::starting(tape, beats);
        World::on_paper(fake.clone(), vec![keys.clone()]).run("run --plan tidy").await;
        let decision = PlanDecision { call_id: id("r2/3"), approved, note, allows: Vec::new() };
        assert_eq!(fake.said(), [Payload::PlanDecision(decision)], "{keys:?}");
        assert_eq!(fake.goals.lock().unwrap()[0].preview_plan, Some(true));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_sees_of_a_plan() {
    let (tape, beats) = asking(proposal("r2/3"), Planner, Kind::PlanDecision);
    let came =
        World::on_paper(Fake::starting(tape, beats), vec![typed("cuse fd\n")]).run("run --plan tidy").await;
    insta::assert_snapshot!(readable(&came.err));
}

#[tokio::test(start_paused = true)]
async fn headless_a_plan_is_refused() {
    let (tape, beats) = asking(proposal("r2/3"), Planner, Kind::PlanDecision);
    let fake = Fake::starting(tape, beats);
    World::headless(fake.clone()).run("run tidy").await;
    assert_eq!(
        fake.said(),
        [Payload::PlanDecision(PlanDecision {
            call_id: id("r2/3"),
            approved: false,
            note: None,
            allows: Vec::new()
        })]
    );
}

/// Returns a request to fetch a page of this host.
fn fetch(call: &str, host: &str) -> ApprovalRequest {
    let mut request = approval(call, &format!("GET https://{host}/{call}"), &[]);
    request.need.hosts = vec![host.to_owned()];
    request
}

#[tokio::test(start_paused = true)]
async fn w_allows_everything_of_a_host_for_the_task() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, fetch("r3.1/2", "docs.example.org"));
    let before = tape.records.len();
    let first = ApprovalDecision {
        call_id: id("r3.1/2"),
        decision: ApprovalWord::Once,
        digest: "digest of GET https://docs.example.org/r3.1/2".to_owned(),
        by: "terminal".to_owned(),
        allows: vec!["host docs.example.org".to_owned()],
    };
    tape.say(User, 1, first.clone());
    tape.say(Executor, 1, fetch("r3.1/4", "docs.example.org"));
    tape.say(Executor, 1, fetch("r3.1/6", "example.org"));
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    let beats = vec![
        Beat::Tell(before),
        Beat::AwaitListening,
        Beat::AwaitSaid(Kind::ApprovalDecision),
        Beat::Tell(3),
        // The other host is asked about.
        Beat::AwaitListening,
        Beat::TellRest,
    ];
    let fake = Fake::starting(tape, beats);
    World::on_paper(fake.clone(), vec![typed("w"), typed("n")]).run("run tidy").await;
    let said = fake.said();
    assert_eq!(said[0], Payload::ApprovalDecision(first));
    let by = |payload: &Payload| match payload {
        Payload::ApprovalDecision(decision) => (decision.decision, decision.by.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(by(&said[1]), (ApprovalWord::Once, "terminal: host docs.example.org".to_owned()));
}

/// Returns a plan that says what a person must allow.
fn needing(needs: &[&str]) -> PlanProposal {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    PlanProposal { needs, is_preview: false, ..proposal("r2/3") }
}

#[tokio::test(start_paused = true)]
async fn what_a_plan_needs_is_asked_once_before_it_runs() {
    let needs =
        ["host docs.example.org", "command pip download six", "deny host x.org", "host *.org", "path /"];
    // A line that allows nothing is not offered.
    let offered: Vec<String> = needs[..2].iter().map(|need| (*need).to_owned()).collect();
    for (keys, allows) in [("x\ny", offered), ("n", vec![]), ("\n", vec![])] {
        let (tape, beats) = asking(needing(&needs), Planner, Kind::PlanDecision);
        let fake = Fake::starting(tape, beats);
        let came = World::on_paper(fake.clone(), vec![typed(keys)]).run("run tidy").await;
        let decision = PlanDecision { call_id: id("r2/3"), approved: true, note: None, allows };
        assert_eq!(fake.said(), [Payload::PlanDecision(decision)], "{keys:?}");
        let shown = readable(&came.err);
        let wanted =
            "The plan says that it will need:\n  host docs.example.org\n  command pip download six\n";
        assert!(shown.contains("[y] allow it for this task  [n] ask each time"), "{shown}");
        assert!(shown.contains(wanted), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_whose_needs_nobody_can_allow_runs() {
    for (needs, is_headless) in [(&["host docs.example.org"][..], true), (&["deny path /"], false)] {
        let (tape, beats) = asking(needing(needs), Planner, Kind::PlanDecision);
        let fake = Fake::starting(tape, beats);
        let world =
            if is_headless { World::headless(fake.clone()) } else { World::on_paper(fake.clone(), vec![]) };
        world.run("run tidy").await;
        let decision = PlanDecision { call_id: id("r2/3"), approved: true, note: None, allows: Vec::new() };
        assert_eq!(fake.said(), [Payload::PlanDecision(decision)], "{needs:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn at_level_l3_the_needs_of_a_plan_are_not_asked_about() {
    let (tape, beats) = asking(needing(&["host docs.example.org"]), Planner, Kind::PlanDecision);
    let fake = Fake::starting(tape, beats);
    let mut world = World::on_paper(fake.clone(), vec![]);
    world.host.is_autonomous = true;
    world.run("run tidy").await;
    let decision = PlanDecision { call_id: id("r2/3"), approved: true, note: None, allows: Vec::new() };
    assert_eq!(fake.said(), [Payload::PlanDecision(decision)]);
}

#[tokio::test(start_paused = true)]
async fn a_need_is_asked_about_once_and_what_is_allowed_holds() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Planner, 0, needing(&["host docs.example.org", "command pip download six"]));
    let before = tape.records.len();
    let allows = vec!["host docs.example.org".to_owned(), "command pip download six".to_owned()];
    let first = PlanDecision { call_id: id("r2/3"), approved: true, note: None, allows };
    tape.say(User, 1, first.clone());
    tape.say(Executor, 1, fetch("r3.1/4", "docs.example.org"));
    tape.say(Executor, 1, approval("r3.1/6", "pip download six", &[]));
    let again = PlanProposal { call_id: id("r2/7"), ..needing(&["command pip download six"]) };
    tape.say(Planner, 0, again);
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    let decided = || Beat::AwaitSaid(Kind::ApprovalDecision);
    let planned = || Beat::AwaitSaid(Kind::PlanDecision);
    let beats =
        vec![Beat::Tell(before), planned(), Beat::Tell(4), decided(), decided(), planned(), Beat::TellRest];
    let fake = Fake::starting(tape, beats);
    World::on_paper(fake.clone(), vec![typed("y")]).run("run tidy").await;
    let signed: Vec<String> = fake
        .said()
        .iter()
        .map(|payload| match payload {
            Payload::ApprovalDecision(decision) => decision.by.clone(),
            Payload::PlanDecision(decision) => {
                format!("plan {} {}", decision.approved, decision.allows.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let wanted = [
        "plan true 2",
        "terminal: host docs.example.org",
        "terminal: command pip download six",
        "plan true 0",
    ];
    assert_eq!(signed, wanted);
}

#[tokio::test(start_paused = true)]
async fn several_questions_are_asked_one_after_the_other() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]))
        .say(Executor, 2, approval("r3.2/2", "rm -rf dist", &[]))
        .say(
            User,
            1,
            ApprovalDecision {
                call_id: id("r3.1/2"),
                decision: ApprovalWord::Once,
                digest: String::new(),
                by: "terminal".to_owned(),
                allows: Vec::new(),
            },
        );
    let before = tape.records.len() - 1;
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    // The record of the first answer arrives only after the second question was asked.
    let beats = vec![Beat::Tell(before), Beat::AwaitListening, Beat::AwaitListening, Beat::Tell(1)];
    let beats = [beats, vec![Beat::AwaitSaid(Kind::ApprovalDecision), Beat::TellRest]].concat();
    let fake = Fake::starting(tape, beats);
    World::on_paper(fake.clone(), vec![typed("y"), typed("n")]).run("run tidy").await;
    let words: Vec<_> = fake
        .said()
        .into_iter()
        .map(|said| match said {
            Payload::ApprovalDecision(decision) => (decision.call_id.to_string(), decision.decision),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        words,
        [("r3.1/2".to_owned(), ApprovalWord::Once), ("r3.2/2".to_owned(), ApprovalWord::Never)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_became_moot_is_closed() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]));
    let before = tape.records.len();
    tape.say(
        Runtime,
        0,
        TaskFault {
            role: Executor,
            kind: FaultKind::Deadline,
            reason: "out of time".to_owned(),
            failure_class: None,
            hints: vec![],
            retryable: false,
            elapsed_ms: 0,
        },
    )
    .say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Deadline));
    let fake =
        Fake::starting(tape, vec![Beat::Tell(before), Beat::AwaitListening, Beat::Tell(1), Beat::TellRest]);
    let came = World::on_paper(fake.clone(), vec![vec![]]).run("run tidy").await;
    assert_eq!((came.code, fake.said()), (4, vec![]));
    assert!(came.err.contains("(no answer is needed any more)"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_too_late_is_no_error() {
    let (tape, _) = wants_to("rm -rf build");
    let before = tape.records.len() - 1;
    // The task ends while the person decides, and refuses the late answer.
    let beats = vec![Beat::Tell(before), Beat::Miss(1)];
    let fake = Fake::starting(tape, beats);
    *fake.refuses_to_hear.lock().unwrap() = true;
    let came = World::headless(fake).run("run tidy").await;
    assert_eq!(came.code, 0, "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_passed_on_is_an_error() {
    let (tape, _) = wants_to("rm -rf build");
    let fake = Fake::starting(tape.clone(), vec![Beat::Tell(tape.records.len() - 1)]);
    *fake.refuses_to_hear.lock().unwrap() = true;
    let came = World::headless(fake).run("run tidy").await;
    assert_eq!(came.code, 2);
    assert!(came.err.contains("resumes the task"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_cannot_be_read_refuses() {
    let (tape, beats) = wants_to("rm -rf build");
    let fake = Fake::starting(tape, beats);
    let came = World::on_paper(fake.clone(), vec![]).run("run tidy").await;
    assert_eq!(
        decided(&fake),
        (ApprovalWord::Never, "digest of rm -rf build".to_owned(), "headless".to_owned())
    );
    assert!(came.err.contains("warning: failed to ask you: there is no terminal"), "{}", came.err);
}

/// Returns what is written to the terminal, with readable control sequences.
fn readable(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "<CR>").replace("\u{1b}[K", "<EL>").replace('\u{1b}', "<ESC>")
}

#[tokio::test(start_paused = true)]
async fn a_program_is_shown_line_by_line() {
    let code =
        format!("x = 1 # note:\\nimport os\n\timport os{}; f('a\\n')\n{}", " ".repeat(300), "y".repeat(100));
    let (tape, beats) = wants_to(&format!("run with python3 this program:\n{code}"));
    let came = World::on_paper(Fake::starting(tape, beats), vec![typed("n")]).run("run tidy").await;
    let shown = readable(&came.err);
    let wanted = format!(
        "  | run with python3 this program:\n  | x = 1 # note:\\nimport os\n\
         \x20 | \\u{{9}}import os\\u{{20*300}}; f('a\\n')\n  | {}\n  + {}\n",
        "y".repeat(74),
        "y".repeat(26)
    );
    assert!(shown.contains(&wanted), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn blanks_do_not_hide_the_beginning_of_a_command() {
    let (tape, beats) = wants_to(&format!("touch here;{}ls", " ".repeat(4_000)));
    let came = World::on_paper(Fake::starting(tape, beats), vec![typed("n")]).run("run tidy").await;
    let shown = readable(&came.err);
    assert!(shown.contains("\n  touch here;\\u{20*4000}ls\n"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_no_answer_asks_again() {
    let no = |times: usize| "q\n".repeat(times);
    for (keys, word) in [
        (typed("q\ny"), ApprovalWord::Once),
        // Nothing that follows it in its line counts, whatever it is.
        (typed("why\nn"), ApprovalWord::Never),
        (typed("wait\nt"), ApprovalWord::ForTask),
        (typed("?\n\n"), ApprovalWord::Never),
        (typed(&format!("{}y", no(5))), ApprovalWord::Once),
        // After five it is refused.
        (typed(&format!("{}q", no(5))), ApprovalWord::Never),
    ] {
        let (tape, beats) = wants_to("rm -rf build");
        let fake = Fake::starting(tape, beats);
        let came = World::on_paper(fake.clone(), vec![keys.clone()]).run("run tidy").await;
        assert_eq!(decided(&fake).0, word, "{keys:?}");
        assert!(came.err.contains("does not answer this: press Enter, then one of y, t, n"), "{}", came.err);
    }
    // A plan's questions likewise.
    let (tape, beats) = asking(proposal("r2/3"), Planner, Kind::PlanDecision);
    let fake = Fake::starting(tape, beats);
    World::on_paper(fake.clone(), vec![typed("maybe\nn")]).run("run --plan tidy").await;
    let decision = PlanDecision { call_id: id("r2/3"), approved: false, note: None, allows: Vec::new() };
    assert_eq!(fake.said(), [Payload::PlanDecision(decision)]);
}
