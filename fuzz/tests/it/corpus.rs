//! Replays every input of the kept corpus.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_fuzz::{INPUT_BYTES_MAX, TARGETS};

/// Maximum inputs per target, and most bytes of all corpora: every test run replays the corpus and every clone contains
/// it.
const INPUTS_MAX: usize = 200;
const BYTES_MAX: u64 = 256 * 1024;

macro_rules! replayed {
    ($($target:ident)+) => {
        /// The targets that have a test.
        const REPLAYED: &[&str] = &[$(stringify!($target)),+];

        $(#[test]
        fn $target() {
            replay(stringify!($target));
        })+
    };
}

replayed! { extract events calls audit_verify config url page mcp openai responses anthropic gemini ollama }

fn replay(name: &str) {
    let target = setpoint_fuzz::target(name).unwrap();
    let paths = inputs(name);
    assert!(!paths.is_empty(), "{name} has no corpus");
    for path in paths {
        let input = std::fs::read(&path).unwrap();
        // If the target panics, the last line names the input.
        println!("{}", path.display());
        (target.run)(&input);
    }
}

#[test]
fn targets_corpora_and_tests_match() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let folders = std::fs::read_dir(corpus()).unwrap();
    let folders = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(targets, folders);
    assert_eq!(targets, REPLAYED.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn the_corpus_stays_small() {
    let mut sum = 0;
    for target in TARGETS {
        let paths = inputs(target.name);
        assert!(paths.len() <= INPUTS_MAX, "{} has {} inputs", target.name, paths.len());
        for path in paths {
            let bytes = path.metadata().unwrap().len();
            assert!(bytes <= INPUT_BYTES_MAX as u64, "{} has {bytes} bytes", path.display());
            sum += bytes;
        }
    }
    assert!(sum <= BYTES_MAX, "the corpus has {sum} bytes");
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus().join(name)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
