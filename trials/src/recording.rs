//! Kept recordings: the answers of the models in a trial, and its result beside them.
//!
//! A recording is kept only if it contains nothing of the machine that made it: no folder, no key, no time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::TrialError;
use crate::ground::output;
use crate::place;
use crate::report::Row;

/// The creation time in every recording.
const RECORDED: &str = "2024-01-01T00:00:00.000000Z";
/// The year of everything that the generators write.
const GENERATED_YEAR: &str = "2024-";
/// Shortest key or folder that is searched for, in characters; a shorter one occurs in any text.
const SECRET_CHARS_MIN: usize = 6;

/// The result that is stored beside a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) seed: u64,
    /// The model that answered, or its substitute.
    pub(crate) model: String,
    /// Programs whose output is part of the questions: another version may word it differently.
    pub(crate) programs: Vec<String>,
    /// The result of the run, with that of the plain loop.
    pub(crate) row: Row,
}

/// The two files of a trial's recording.
pub(crate) struct Files {
    pub(crate) tape: PathBuf,
    pub(crate) kept: PathBuf,
}

impl Files {
    pub(crate) fn of(folder: &Path, trial: &str) -> Self {
        Files { tape: folder.join(format!("{trial}.jsonl")), kept: folder.join(format!("{trial}.json")) }
    }

    pub(crate) fn are_there(&self) -> bool {
        self.tape.is_file() && self.kept.is_file()
    }

    /// Keeps a recording.
    ///
    /// # Errors
    /// There is one already, or it contains something of this machine.
    pub(crate) fn keep(
        &self,
        trial: &str,
        tape: &Path,
        kept: &Kept,
        private: &[String],
    ) -> Result<(), TrialError> {
        if self.tape.exists() {
            return Err(TrialError::Kept { path: self.tape.clone() });
        }
        let text = fs::read_to_string(tape).map_err(TrialError::file("read", tape))?;
        let text = without_time(&text);
        leaks(trial, &text, private)?;
        let beside = serde_json::to_string_pretty(kept).unwrap_or_default() + "\n";
        for (path, text) in [(&self.tape, &text), (&self.kept, &beside)] {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(TrialError::file("make", folder))?;
            }
            fs::write(path, text).map_err(TrialError::file("write", path))?;
        }
        Ok(())
    }

    /// Reads the result that is stored beside the recording.
    pub(crate) fn read(&self) -> Result<Kept, TrialError> {
        let text = fs::read_to_string(&self.kept).map_err(TrialError::file("read", &self.kept))?;
        serde_json::from_str(&text).map_err(|error| TrialError::Unreadable {
            program: self.kept.display().to_string(),
            reason: error.to_string(),
        })
    }
}

/// Returns the versions of the programs whose output models read.
pub(crate) fn programs() -> Result<Vec<String>, TrialError> {
    let version = |program: &'static str| {
        // The same program as in a trial's place.
        let found = place::program(program).ok_or(TrialError::Missing { program })?;
        let mut command = std::process::Command::new(found);
        command.arg("--version");
        output(command).map(|said| said.trim().to_owned())
    };
    Ok(vec![version("python3")?, version("git")?])
}

/// Returns the recording without its creation time.
fn without_time(text: &str) -> String {
    let Some((head, rest)) = text.split_once('\n') else { return text.to_owned() };
    let Ok(Value::Object(mut head)) = serde_json::from_str::<Value>(head) else { return text.to_owned() };
    head.insert("recorded".to_owned(), RECORDED.into());
    format!("{}\n{rest}", Value::Object(head))
}

static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}").ok());

/// Rejects a text that contains one of these, or a time that no generator wrote.
fn leaks(trial: &str, text: &str, private: &[String]) -> Result<(), TrialError> {
    let leak = |line: usize, what: &str| {
        Err(TrialError::Leak { trial: trial.to_owned(), line, what: what.to_owned() })
    };
    for (number, line) in (1..).zip(text.lines()) {
        let looked_for = private.iter().filter(|secret| secret.chars().count() >= SECRET_CHARS_MIN);
        if looked_for.into_iter().any(|secret| line.contains(secret.as_str())) {
            return leak(number, "a folder or a key of this machine");
        }
        let times = TIME.as_ref().into_iter().flat_map(|time| time.find_iter(line));
        if let Some(time) = times.into_iter().find(|time| !time.as_str().starts_with(GENERATED_YEAR)) {
            return leak(number, &format!("the time {}", time.as_str()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(text: &str, private: &[&str]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("tape.jsonl");
        fs::write(&tape, text).unwrap();
        let files = Files::of(&folder.path().join("kept"), "a-trial");
        let kept = Kept { seed: 1, model: "m".to_owned(), programs: vec![], row: Row::default() };
        let private: Vec<String> = private.iter().map(|secret| (*secret).to_owned()).collect();
        files.keep("a-trial", &tape, &kept, &private).map_err(|error| crate::error::chain(&error))?;
        assert!(files.are_there());
        assert_eq!(files.read().unwrap(), kept);
        let again = files.keep("a-trial", &tape, &kept, &private).unwrap_err();
        assert!(again.to_string().contains("there is a recording already"));
        Ok(fs::read_to_string(&files.tape).unwrap())
    }

    #[test]
    fn a_recording_contains_no_creation_time() {
        let head = r#"{"format":"f","recorded":"2026-11-25T02:00:00.000000Z"}"#;
        let kept = keep(&format!("{head}\nasked at {{time:1}}, of 2024-01-02 03:04\n"), &["x"]).unwrap();
        assert!(kept.contains(RECORDED) && !kept.contains("2026"), "{kept}");
        let later = keep(&format!("{head}\nasked at 2026-11-25T02:00:01Z\n"), &[]).unwrap_err();
        assert!(later.contains("line 2 holds the time 2026-11-25T02:00"), "{later}");
    }

    #[test]
    fn a_recording_with_local_folders_or_keys_is_rejected() {
        for secret in ["trial-Xyz123", "sk-0123456789"] {
            let refused = keep(&format!("{{}}\nsaid {secret}/work\n"), &["short", secret]).unwrap_err();
            assert!(refused.contains("line 2 holds a folder or a key"), "{refused}");
        }
    }
}
