//! Which playbook knows which goal, and what it takes from it: `corpus/goals.txt`, one goal per line.

use expect_test::expect_file;
use setpoint_model::playbook::Library;

#[test]
fn goals_find_their_playbooks() {
    let library = Library::load(None);
    let corpus = include_str!("corpus/goals.txt");
    let mut out = String::new();
    for line in corpus.lines() {
        match line.split_once("  →  ").map_or(line, |(goal, _)| goal) {
            goal if goal.starts_with('#') || goal.is_empty() => out.push_str(line),
            goal => {
                let found = match library.find(goal) {
                    Some(known) => {
                        let values = serde_json::to_string(&known.values).unwrap();
                        let other = match known.other_readings.is_empty() {
                            true => String::new(),
                            false => {
                                format!(" or {}", serde_json::to_string(&known.other_readings).unwrap())
                            }
                        };
                        format!("{} {values}{other}", known.playbook)
                    }
                    None => "none".to_owned(),
                };
                out.push_str(&format!("{goal}  →  {found}"));
            }
        }
        out.push('\n');
    }
    expect_file!["corpus/goals.txt"].assert_eq(&out);
}
