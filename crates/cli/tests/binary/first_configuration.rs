//! `init` through the binary: what it writes is what every other command reads.

use std::fs;

use crate::support::{Came, Home};

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// An address without a server: no process can listen on this reserved port without rights.
const NOBODY: &str = "http://127.0.0.1:1";

/// A broken configuration can be found and replaced: the commands for that read no configuration.
#[test]
fn a_key_in_the_environment_chooses_and_is_not_written() {
    let home = Home::new();
    let file = home.config().join("setpoint.toml");
    fs::write(&file, "[controller\n").unwrap();
    let came = home.run(&["run", "count the files"]);
    assert!(came.code == 2 && came.err.contains("setpoint.toml:1"), "{came:#?}");
    let came = home.run(&["config", "path"]);
    assert!(came.code == 0 && came.out.contains(file.to_str().unwrap()), "{came:#?}");
    assert_eq!(home.run(&["schema", "FinalResult"]).code, 0);
    let env = [("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)];
    let came = Came::of(home.command(&["init", "--force", "--look-at", NOBODY]).envs(env));
    assert!(came.code == 0 && !home.data().exists(), "{came:#?}");
    assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(KEY) && text.contains("key_env = \"OPENAI_API_KEY\""), "{text}");
    assert!(text.contains("# brain = \"anthropic/"), "{text}");
    assert!(!home.config().join("models.toml").exists());
    let shown = home.run(&["config", "--json"]).json();
    let brain = shown.as_array().unwrap().iter().find(|line| line["key"] == "models.brain").unwrap();
    let (value, origin) = (brain["value"].as_str().unwrap(), brain["origin"].as_str().unwrap());
    assert!(origin.starts_with(file.to_str().unwrap()), "{origin}");
    assert!(came.out.contains(&format!("models.brain = {value}")), "{came:#?}");
    // The file chooses the model if the key is set, and names the variable if it is not; no server is asked.
    let doctor = Came::of(home.command(&["doctor"]).envs(env));
    assert!(doctor.out.contains(&format!("models.brain is {value}, by {origin}")), "{doctor:#?}");
    let run = home.run(&["run", "count the files"]);
    assert!(run.code == 2 && run.err.contains("OPENAI_API_KEY is not set"), "{run:#?}");
}
