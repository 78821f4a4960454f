//! A whole task, recorded with the embedded brain in one folder and played in another without it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::cassette::tape::Head;
use setpoint_model::cassette::{Player, Recorder, Tape, TapeWriter};
use setpoint_model::playbook::{Library, Playbook};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::{EndState, FinalResult};
use setpoint_protocol::models::{ModelCard, Price};
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{Reply, Surroundings, Usage};
use setpoint_runtime::NewTask;

use crate::support::{new_task, organisation};

/// A folder with files of these sizes, with its own home and data.
struct Place {
    root: tempfile::TempDir,
    time: &'static str,
    money: Option<Money>,
}

impl Place {
    fn new(time: &'static str, sizes: &[(&str, usize)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let files = root.path().join("files/in");
        std::fs::create_dir_all(&files).unwrap();
        for (name, size) in sizes {
            std::fs::write(files.join(name), vec![b'x'; *size]).unwrap();
        }
        Place { root, time, money: None }
    }

    fn task(&self) -> NewTask {
        let path = |below: &str| self.root.path().join(below).to_string_lossy().into_owned();
        let mut new =
            NewTask { raw_input: "find the three largest files under ./in".to_owned(), ..new_task() };
        new.opened.surroundings = Arc::new(Surroundings {
            cwd: path("files"),
            home: path(""),
            workspace: path("data/{task}"),
            os: "linux".to_owned(),
            local_time: self.time.to_owned(),
            ..Surroundings::default()
        });
        new.opened.budgets.money = self.money;
        // Every run has its own task id, which is in the workspace's path.
        new.suffix = self.time.len() as u64;
        new
    }

    /// Returns the folder of its files, as a result would name it.
    fn name(&self) -> String {
        self.root.path().to_string_lossy().into_owned()
    }
}

/// Runs the task; returns its result and everything recorded.
async fn run(place: &Place, model: impl Model + 'static) -> (FinalResult, String) {
    let organisation = organisation(&Journal::in_memory(), model);
    let task = organisation.start(place.task()).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    let records = organisation.records(&task).unwrap();
    let text: String = records.iter().map(|record| String::from_utf8_lossy(&record.body)).collect();
    organisation.shutdown().await;
    (result, text)
}

fn brain() -> Arc<Playbook> {
    Arc::new(Playbook::new(Arc::new(Library::load(None))))
}

async fn recorded(place: &Place, tape: &Path, model: Arc<dyn Model>) -> FinalResult {
    let head = Head::new(Timestamp::from_micros(1_700_000_000_000_000), "setpoint");
    let tape = Arc::new(TapeWriter::create(tape, &head, &[]).unwrap());
    let (result, _) = run(place, Recorder::new(model, Arc::clone(&tape))).await;
    assert!(tape.trouble().is_none(), "{:?}", tape.trouble());
    assert!(tape.exchanges() >= 3, "{} exchanges", tape.exchanges());
    result
}

/// Returns what a recording says about its model: the planner is the embedded brain, which reads no survey.
fn embedded() -> ModelCard {
    ModelCard { is_free: true, takes_any_word: true, ..ModelCard::named("playbook") }
}

const SIZES: &[(&str, usize)] = &[("a", 10), ("b", 2_000), ("c", 300), ("d", 40)];

#[tokio::test]
async fn a_tape_made_in_one_folder_plays_in_another() {
    let here = Place::new("Sunday 2026-11-22 11:05 +01:00 (Europe/Berlin)", SIZES);
    let there = Place::new("Friday 2027-01-01 00:00 +00:00 (UTC)", SIZES);
    let path = here.root.path().join("tape.jsonl");
    let first = recorded(&here, &path, brain()).await;
    assert_eq!((first.directive, first.replans), (EndState::Accept, 0), "{first:?}");

    let tape = Arc::new(Tape::read(&path).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(&here.name()), "the tape names the folder that it was made in");
    let (second, _) = run(&there, Player::of_card(Arc::clone(&tape), &embedded())).await;
    assert_eq!((second.directive, second.replans), (EndState::Accept, 0), "{second:?}");
    assert_eq!(tape.left(), 0, "not every recorded answer was asked for");
    let said = |result: &FinalResult| (result.output.to_text(), result.summary.clone(), result.usage.calls);
    let moved = |text: String| text.replace(&here.name(), &there.name());
    let (output, summary, calls) = said(&first);
    assert_eq!(said(&second), (moved(output), moved(summary), calls));
    assert!(second.output.to_text().contains("2000"), "{}", second.output.to_text());
}

#[tokio::test]
async fn a_run_that_diverges_reports_where_it_left_the_tape() {
    let here = Place::new("Sunday 2026-11-22 11:05 +01:00 (Europe/Berlin)", SIZES);
    let there = Place::new("Friday 2027-01-01 00:00 +00:00 (UTC)", &[("a", 10), ("b", 77_777)]);
    let path = here.root.path().join("tape.jsonl");
    recorded(&here, &path, brain()).await;
    let tape = Arc::new(Tape::read(&path).unwrap());
    let (result, records) = run(&there, Player::of_card(Arc::clone(&tape), &embedded())).await;
    assert_eq!(result.directive, EndState::Abandon, "{result:?}");
    let asked = "the recording has no answer to question 2 of `execute`: the nearest is in line 5 of ";
    assert!(records.contains(asked), "{records}");
    assert!(records.contains("in `result conversation`: recorded"), "{records}");
    assert!(result.summary.contains(asked), "{result:?}");
    assert!(tape.left() > 0);
}

/// The embedded brain as a model with a price, whose calls cost 0.014.
struct Priced(Arc<Playbook>);

#[async_trait]
impl Model for Priced {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        let usage = Usage { tokens_in: 1_000, tokens_out: 100, tokens_cached: 0 };
        self.0.answer(call, progress).await.map(|reply| Reply { usage, ..reply })
    }

    fn name(&self) -> &str {
        "priced"
    }

    fn card(&self) -> ModelCard {
        let of = |units: f64| Money::of_units(units).unwrap();
        let price = Price { token_in: of(10e-6), token_out: of(40e-6), token_cached: of(1e-6) };
        ModelCard { price: Some(price), ..ModelCard::named("priced") }
    }
}

/// The longest possible answer would cost more than the budget, so the budget limits the length of each.
#[tokio::test]
async fn a_run_within_a_budget_replays_within_it_at_no_cost() {
    let place = |time| Place { money: Money::of_units(0.3), ..Place::new(time, SIZES) };
    let here = place("Sunday 2026-11-22 11:05 +01:00 (Europe/Berlin)");
    let there = place("Friday 2027-01-01 00:00 +00:00 (UTC)");
    let path = here.root.path().join("tape.jsonl");
    let model = Arc::new(Priced(brain()));
    let card = model.card();
    let first = recorded(&here, &path, model).await;
    assert_eq!(
        (first.directive, first.usage.cost > Some(Money::ZERO)),
        (EndState::Accept, true),
        "{first:?}"
    );
    let player = Player::of_card(Arc::new(Tape::read(&path).unwrap()), &card);
    assert_eq!((player.name(), player.card().price), ("recording of priced", card.price));
    let (second, _) = run(&there, player).await;
    assert_eq!((second.directive, second.usage.cost), (EndState::Accept, Some(Money::ZERO)), "{second:?}");
    assert_eq!(second.usage.tokens_recorded, first.usage.tokens_in + first.usage.tokens_out);
}
