//! Pages in a real browser: nothing is loaded, no error is logged, and nothing is cut, covered, faint or too
//! small.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::page::page;
use crate::support::chromium::{Browser, Screen};
use crate::support::tape::Tape;
use crate::support::{stories, tapes};

/// Measures a page.
const LOOK: &str = include_str!("look.js");

const SCREENS: [Screen; 4] = [
    Screen { width: 1_280, height: 800, scheme: "light" },
    Screen { width: 1_280, height: 800, scheme: "dark" },
    Screen { width: 390, height: 844, scheme: "light" },
    Screen { width: 390, height: 844, scheme: "dark" },
];

/// A page and how much it must show: columns of the matrix, measured rounds, lanes.
struct Expected {
    name: &'static str,
    tape: Tape,
    columns: u64,
    rounds: u64,
    lanes: u64,
}

fn pages() -> Vec<Expected> {
    let of = |name, tape, [columns, rounds, lanes]: [u64; 3]| Expected { name, tape, columns, rounds, lanes };
    vec![
        of("accepted", tapes::accepted(), [1, 1, 7]),
        of("abandoned after four rounds", stories::abandoned(), [8, 4, 7]),
        of("with gaps", tapes::migration_with_gaps(), [4, 3, 8]),
        of("under way", tapes::migration(), [4, 2, 8]),
        of("just opened", Tape::opened("tidy up"), [0, 0, 2]),
        of("broken before a plan", stories::broken(), [0, 0, 4]),
        of("hostile", stories::hostile(), [6, 3, 7]),
    ]
}

#[tokio::test]
async fn every_page_is_whole_and_readable_at_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut browser = Browser::start();
    for expected in pages() {
        let path = written(folder.path(), expected.tape.clone()).await;
        for screen in SCREENS {
            let what = format!("{} at {screen:?}", expected.name);
            browser.open(&path, screen);
            let report = browser.evaluate(LOOK);
            readable(&report, &what);
            let counts = ["columns", "bars", "steps", "lanes"].map(|name| report[name].as_u64().unwrap());
            assert_eq!(
                counts,
                [expected.columns, expected.rounds, expected.rounds, expected.lanes],
                "{what}: {report:#}"
            );
            browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
            readable(&browser.evaluate(LOOK), &format!("{what}, unfolded"));
            assert_eq!(browser.requests(), [format!("file://{}", path.display())], "{what}");
            assert_eq!(browser.complaints(), Vec::<&Value>::new(), "{what}");
        }
    }
}

#[tokio::test]
async fn the_largest_page_does_not_move_sideways() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), stories::huge()).await;
    let mut browser = Browser::start();
    for screen in [SCREENS[0], SCREENS[2]] {
        browser.open(&path, screen);
        let report = browser.evaluate(LOOK);
        readable(&report, &format!("{screen:?}"));
        assert_eq!([&report["columns"], &report["bars"]], [12, 4]);
    }
}

#[tokio::test]
async fn a_sign_leads_to_its_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), stories::abandoned()).await;
    let mut browser = Browser::start();
    browser.open(&path, SCREENS[0]);
    let unfolded = "new Promise((done) => {
        addEventListener('hashchange', () => {
            const seen = document.querySelector(location.hash);
            done([location.hash, seen.checkVisibility(), seen.closest('details').open]);
        });
        document.querySelector('#matrix td a').click();
    })";
    assert_eq!(browser.evaluate(unfolded), json!(["#seen-0-1-1", true, true]));
}

async fn written(folder: &Path, tape: Tape) -> PathBuf {
    let path = folder.join("task.html");
    std::fs::write(&path, page(tape).await.0).unwrap();
    path
}

#[track_caller]
fn readable(report: &Value, what: &str) {
    for fault in ["overlaps", "cut", "small", "faint"] {
        assert_eq!(report[fault], json!([]), "{fault}: {what}");
    }
    let wide = [&report["wide"][0], &report["wide"][1]].map(|pixels| pixels.as_u64().unwrap());
    assert!(wide[0] <= wide[1], "{wide:?}: {what}");
}
