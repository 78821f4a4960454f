//! Signs at the end of unquoted words of a goal: part of a text or name, or of the sentence.

use serde_json::json;

use super::{Want, case, hold};
use crate::support::Home;

#[test]
fn signs_at_the_end_of_words() {
    let home = Home::new();
    home.file("f.txt", "TODO: one\nTODO two\nfoo; bar, std::x\nfoo bar std\n");
    for name in ["b", "b;", "q", "only:", "alone"] {
        home.file(name, format!("{name}\n"));
    }
    home.file("src/a", "x\n");
    home.file("src./a", "y\n");
    let found = |line: u64, text: &str| {
        let lines = json!([{"path": "f.txt", "line": line, "text": text}]);
        Want::Answer(vec![("/count", json!(1)), ("/lines", lines)])
    };
    let mut cases = Vec::new();
    for goal in ["grep for TODO: in f.txt", "which lines contain TODO: in f.txt"] {
        cases.push(case(goal, found(1, "TODO: one")));
    }
    for goal in [
        "grep foo; f.txt",
        "find all occurrences of bar, in f.txt",
        "find mentions of std:: in f.txt.",
        "search f.txt for the string 'bar,'",
    ] {
        cases.push(case(goal, found(3, "foo; bar, std::x")));
    }
    for goal in ["search f.txt for the string bar.", "search f.txt for the text bar, ignoring case"] {
        cases.push(case(goal, Want::Answer(vec![("/count", json!(2))])));
    }
    for goal in ["search f.txt for the string bar,", "search f.txt for the string x::"] {
        cases.push(case(goal, Want::Refused("may belong to the text")));
    }
    // A text is found within longer words, too.
    for goal in [
        "search f.txt for the word bar",
        "find the word bar in f.txt",
        "find all occurrences of the word bar in f.txt",
    ] {
        cases.push(case(goal, Want::Refused("no playbook matches")));
    }
    for goal in ["hash ./b;", "sha256 of b;", "compare src with src."] {
        cases.push(case(goal, Want::Refused("both exist")));
    }
    // Before other words a point is part of a name.
    cases.push(case("compare src., and src", Want::Gap("src. and src are identical", vec![])));
    cases.push(case("sha256 of only:", Want::Refused("only: exists, and only does not")));
    for goal in ["sha256 of q?", "sha256 of 'b;'", "sha256 of alone, please"] {
        cases.push(case(goal, Want::Answer(vec![("/complete", json!(true))])));
    }
    hold(&home, &cases);
}
