//! The live view on a terminal: drawn in place, removed for questions, left on screen at the end.

use setpoint_cli::io::Size;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::topology::Kind;

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::tapes;
use crate::support::world::{World, typed};

/// A terminal's content after these bytes, with only the features that the view uses.
struct Paper {
    lines: Vec<String>,
    row: usize,
    column: usize,
}

impl Paper {
    fn after(text: &str) -> Paper {
        let mut paper = Paper { lines: vec![String::new()], row: 0, column: 0 };
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\r' => paper.column = 0,
                '\n' => {
                    paper.row += 1;
                    if paper.row == paper.lines.len() {
                        paper.lines.push(String::new());
                    }
                }
                '\u{1b}' => {
                    assert_eq!(rest.next(), Some('['), "only CSI sequences are written");
                    let mut number = String::new();
                    while let Some(digit) = rest.next_if(|c| c.is_ascii_digit()) {
                        number.push(digit);
                    }
                    paper.sequence(rest.next().unwrap(), number.parse().unwrap_or(0));
                }
                c => paper.put(c),
            }
        }
        paper
    }

    fn sequence(&mut self, command: char, number: usize) {
        match command {
            'A' => self.row = self.row.checked_sub(number).expect("never above the first line"),
            'C' => self.column += number,
            'K' => self.lines[self.row] = self.lines[self.row].chars().take(self.column).collect(),
            'J' => {
                self.lines[self.row] = self.lines[self.row].chars().take(self.column).collect();
                self.lines.truncate(self.row + 1);
            }
            other => panic!("an unexpected sequence: {other}"),
        }
    }

    fn put(&mut self, c: char) {
        let mut line: Vec<char> = self.lines[self.row].chars().collect();
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.lines[self.row] = line.into_iter().collect();
        self.column += 1;
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_view_stays_and_the_result_follows() {
    let fake =
        Fake::starting(tapes::migration_with_gaps(), vec![Beat::Tell(9), Beat::Tell(12), Beat::TellRest]);
    let came = World::on_terminal(fake, vec![]).run("run migrate").await;
    let shown = Paper::after(&came.err).text();
    assert_eq!(shown.matches("goal  migrate").count(), 1, "{shown}");
    insta::assert_snapshot!(shown);
    assert!(
        came.out.contains("\naccepted with gaps: 1 of 2 criteria is not met; shown: 10 412 rows in db\n"),
        "{}",
        came.out
    );
}

#[tokio::test(start_paused = true)]
async fn the_clock_advances_without_events() {
    let beats = vec![Beat::Tell(3), Beat::AwaitShown("R1 reads the goal 65 s"), Beat::TellRest];
    let came = World::on_terminal(Fake::starting(tapes::accepted(), beats), vec![]).run("run count").await;
    assert_eq!(came.code, 0);
    assert!(came.err.contains("01:05"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn the_clock_stops_while_only_a_person_is_asked() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, clarification("r1/2", &["Which house?"]));
    let before = tape.records.len();
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    // No question can be asked on this terminal, so the view is drawn while the question is open.
    let beats = vec![Beat::AwaitShown("waiting: you"), Beat::Seconds(9), Beat::TellRest];
    let fake = Fake::with(vec![(tape, before, beats, None)]);
    let came = World::on_terminal(fake, vec![]).run("tasks resume tidy").await;
    assert!(!came.err.contains("00:01"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn streamed_text_is_counted_on_the_screen() {
    let beats = vec![
        Beat::Tell(3),
        Beat::Progress(id("r1/1"), "twelve char"),
        Beat::Progress(id("r1/1"), "s"),
        Beat::AwaitShown("12 characters written so far"),
        Beat::TellRest,
    ];
    let came = World::on_terminal(Fake::starting(tapes::accepted(), beats), vec![]).run("run count").await;
    assert!(!Paper::after(&came.err).text().contains("written so far"));
}

#[tokio::test(start_paused = true)]
async fn a_question_takes_the_views_place_and_stays() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up")).say(
        Executor,
        1,
        approval("r3.1/2", "rm -rf build", &["/w/build"]),
    );
    let before = tape.records.len();
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    let beats = vec![Beat::Tell(before), Beat::AwaitSaid(Kind::ApprovalDecision), Beat::TellRest];
    let came = World::on_terminal(Fake::starting(tape, beats), vec![typed("y")]).run("run tidy").await;
    insta::assert_snapshot!(Paper::after(&came.err).text());
}

#[tokio::test(start_paused = true)]
async fn the_view_fits_the_terminal() {
    for (columns, lines) in [(80, 24), (40, 12), (20, 5), (1, 1)] {
        let fake = Fake::starting(tapes::migration_with_gaps(), vec![Beat::Tell(20), Beat::TellRest]);
        let mut world = World::on_terminal(fake, vec![]);
        world.size = Size { columns, lines };
        let came = world.run("run migrate").await;
        let paper = Paper::after(&came.err);
        assert!(paper.lines.len() <= usize::from(lines), "{columns} × {lines}: {}", paper.text());
        for line in &paper.lines {
            assert!(line.chars().count() < usize::from(columns.max(2)), "{columns} × {lines}: {line}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_on_stderr_and_a_view_do_not_mix() {
    for (line, is_drawn) in
        [("run migrate", true), ("run --verbose migrate", false), ("run --json migrate", false)]
    {
        let fake = Fake::starting(tapes::migration_with_gaps(), vec![Beat::TellRest]);
        let came = World::on_terminal(fake, vec![]).run(line).await;
        assert_eq!(came.err.contains("\u{1b}["), is_drawn, "{line}");
    }
}
