//! What the checks find in a home.

use std::fs;

use setpoint_model_server::canned;

use super::*;
use crate::testing::{Home, options};

fn of<'f>(found: &'f [Diagnosis], subject: &str) -> &'f Diagnosis {
    found.iter().find(|one| one.subject == subject).unwrap()
}

#[test]
fn the_doctor_says_where_telemetry_goes() {
    let collector = canned(|_| (200, String::new())).unwrap();
    for (address, state, said) in [
        ("", Health::Good, "off: nothing is sent anywhere".to_owned()),
        (
            collector.as_str(),
            Health::Good,
            format!("spans go to {collector}/…, metrics go to {collector}/…; the collector accepts it"),
        ),
        (
            "http://ada:pass@127.0.0.1:1",
            Health::Note,
            "…@127.0.0.1:1/…, but the collector does not accept it".to_owned(),
        ),
        ("localhost:4317", Health::Note, "failed to ".to_owned()),
    ] {
        let vars = [("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
        let found = examine(&Home::new().program(&options(None, &[]), &vars).unwrap());
        let Diagnosis { state: is, finding, .. } = of(&found, "telemetry");
        assert!(*is == state && finding.contains(&said) && !finding.contains("pass"), "{address}: {finding}");
    }
}

/// A broken playbook is reported and left out; the others work.
#[test]
fn the_doctor_counts_playbooks_that_cannot_be_used() {
    let home = Home::new();
    let books = home.config().join("playbooks");
    fs::create_dir(&books).unwrap();
    fs::write(books.join("broken.toml"), "name = \"broken\"\n[[approach]\n").unwrap();
    fs::write(books.join("bytes.toml"), b"name = \"\xff\"").unwrap();
    fs::create_dir(books.join("folder.toml")).unwrap();
    let program = home.program(&options(None, &[]), &[]).unwrap();
    let found = examine(&program);
    let Diagnosis { state, finding, .. } = of(&found, "playbooks");
    assert!(
        *state == Health::Bad && finding.starts_with("3 of them cannot be used; the first: "),
        "{finding}"
    );
    let (known, problems) = program.playbooks();
    let named =
        |(name, line): (&str, usize)| problems.iter().any(|one| one.line == line && one.file.ends_with(name));
    assert!(
        [("broken.toml", 2), ("bytes.toml", 0), ("folder.toml", 0)].into_iter().all(named),
        "{problems:?}"
    );
    assert!(known.iter().any(|book| book.name == "broken-symlinks"), "{known:?}");
}
