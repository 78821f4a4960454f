//! Files and goals that mean harm, or nothing: typed errors, never a panic, never for ever.

use std::fs;

use proptest::prelude::*;
use setpoint_machine::Brief;
use setpoint_model::playbook::Library;

use crate::support::{brain, catalogue, plan_brief};

/// What is said about a file with this text; nothing may be said about the program's own.
fn said(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.toml"), text).unwrap();
    let library = Library::load(Some(dir.path()));
    assert!(library.find("find duplicate files in x").is_some());
    library.broken().iter().map(|broken| broken.error.reason()).collect::<Vec<_>>().join("\n")
}

#[test]
fn files_made_to_hurt_are_refused() {
    let head = "name = \"x\"\ntitle = \"x\"\ndescription = \"x\"\nexamples = [\"a x\", \"a y\"]\ntask_criteria = []\ncriteria = {}\n";
    for (text, expected) in [
        (format!("a = {}", "[".repeat(100_000)), "TOML"),
        (format!("a = {}{}", "{a=".repeat(10_000), "}".repeat(10_000)), "TOML"),
        ("a.".repeat(5_000) + "b = 1", "TOML"),
        ("\u{0}".to_owned(), "TOML"),
        (format!("{head}patterns = [\"{}\"]\napproach = []", "(a ".repeat(400)), "nested deeper"),
        (format!("{head}patterns = [\"{}\"]\napproach = []", "{".repeat(1_900)), "pair the bracket"),
        (
            format!("{head}patterns = [\"{}\"]\napproach = []", "<show>".repeat(300)),
            "more than 2000 characters",
        ),
        (format!("{head}patterns = [\"a {{x}}\"]\napproach = []"), "parameter `x`"),
        (
            format!("{head}patterns = [\"a\"]\napproach = []\n[words]\na = \"<b>\"\nb = \"<a>\""),
            "task_criteria",
        ),
        (format!("{head}patterns = [{}]\napproach = []", "\"a\",".repeat(100)), "more than 64"),
        (format!("name = \"{}\"", "x".repeat(200_000)), "TEMPLATE_CHARS_MAX"),
        (format!("name = \"{}\"", "é".repeat(200)), "no name"),
    ] {
        let said = said(&text);
        assert!(said.contains(expected), "{said}, expected {expected}");
    }
}

#[test]
fn templates_made_to_grow_do_not() {
    let file = |output: &str| {
        format!(
            "name = \"x\"\ntitle = \"x\"\ndescription = \"x\"\nexamples = [\"see x\", \"see y\"]\npatterns = [\"see {{a}}\"]\n\
             task_criteria = [\"c\"]\n[params.a]\ntype = \"text\"\ndescription = \"x\"\n[criteria.c]\ntext = \"t\"\non = \"output\"\n\
             expect = {{ contains = \"x\" }}\n[[approach]]\nname = \"n\"\nnote = \"n\"\n[[approach.step]]\nintent = \"i\"\n\
             criteria = [\"c\"]\ncall = [{{ tool = \"list_dir\", input = {{ path = \"a\" }} }}]\noutput = {output}\n"
        )
    };
    assert_eq!(said(&file("\"{a}\"")), "");
    assert!(said(&file(&format!("\"{}\"", "{a}".repeat(1_000)))).contains("more than 32 placeholders"));
    assert!(said(&file(&format!("\"{}\"", "{".repeat(5_000)))).is_empty(), "pairs of braces are braces");
    assert!(said(&file(&format!("\"{}\"", "{".repeat(5_001)))).contains("pair the brace"));
    assert!(said(&file(&format!("{}1{}", "[".repeat(30), "]".repeat(30)))).contains("nested too deeply"));
    let nested = (0..10).fold("1".to_owned(), |of, _| format!("{{ repeat = 100, as = \"i\", of = {of} }}"));
    assert!(said(&file(&nested)).contains("repeat"), "repetitions inside repetitions");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_goal_makes_it_panic(goal in "\\PC{0,120}") {
        let brain = brain();
        let _ = brain.reply(&Brief::Plan(Box::new(plan_brief(&goal))));
        let _ = brain.library().closest(&goal, &[]);
    }

    #[test]
    fn no_goal_of_known_words_makes_it_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "find", "the", "three", "largest", "files", "under", "in", ".", "..", "'", "\"", "a b", "and", "-rf", "~",
                "$(id)", "`id`", ";", "summarise", "x.csv", "x.json", "\\", "{", "}", "|", "compare", "with", "rename",
                "to", "archive", "for", "search", "\u{202e}", "日本語", "0", "99999999999999999999", "*", "(", "[",
            ]),
            0..24,
        )
    ) {
        let goal = words.join(" ");
        let brain = brain();
        let plan = brain.reply(&Brief::Plan(Box::new(plan_brief(&goal))));
        let again = brain.reply(&Brief::Plan(Box::new(plan_brief(&goal))));
        prop_assert_eq!(plan, again);
    }

    #[test]
    fn no_file_makes_it_panic(text in "[a-z\\[\\]{}=\"'.#|<> \n]{0,300}") {
        said(&text);
    }

    #[test]
    fn no_change_to_a_file_makes_it_panic(at in 0_usize..4_000, with in "[\\[\\]{}=\"'|<>\n]{1,3}") {
        let library = Library::load(None);
        let (_, source) = library.show("find-text").unwrap();
        let at = source.char_indices().map(|(i, _)| i).take_while(|i| *i <= at).last().unwrap_or(0);
        let (before, after) = source.split_at(at);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.toml");
        fs::write(&file, format!("{before}{with}{after}")).unwrap();
        let _ = library.check_file(&file, &catalogue());
    }
}
