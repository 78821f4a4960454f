//! Files with one error each, and the resulting messages.

use expect_test::{Expect, expect};

use super::*;

const WHOLE: &str = r#"name = "greet"
title = "Greet"
description = "Says hello."
examples = ["greet ada", "greet 'a b'"]
patterns = ["greet {who}"]
task_criteria = ["said"]

[params.who]
type = "text"
description = "whom"

[criteria.said]
text = "{who} was greeted"
on = "output"
expect = { pointer = { at = "/text", is = { equals = "hello" } } }

[[approach]]
name = "shell"
note = "by echo"

[[approach.step]]
intent = "Greet {who}"
criteria = ["said"]
output = { text = "{result.1/stdout|trim}" }

[[approach.step.call]]
tool = "shell"
programs = ["echo"]
input = { command = "echo hello {who|sh}" }
"#;

/// Compares the error of `WHOLE` with `from` replaced by `to`.
fn check(from: &str, to: &str, expected: &Expect) {
    assert!(WHOLE.contains(from), "{from}");
    let text = WHOLE.replacen(from, to, 1);
    let said = match book("x.toml", &text, Origin::File("x.toml".to_owned())) {
        Ok(book) => match verify(&book) {
            Ok(()) => "fine".to_owned(),
            Err(fault) => fault.in_file("x.toml", &text).to_string(),
        },
        Err(broken) => broken.to_string(),
    };
    expected.assert_eq(&said);
}

#[test]
fn a_complete_file_has_no_errors() {
    check("greet", "greet", &expect!["fine"]);
}

#[test]
fn a_check_on_a_command_names_the_command() {
    let on = "on = \"output\"";
    for tool in ["shell", "shell/echo"] {
        let to = format!("on = {{ call = {{ tool = \"{tool}\" }} }}");
        check(
            on,
            &to,
            &expect![
                "x.toml:12:1: failed to read the check of `said`: give `which`, the command: another one would show nothing \
                 of it"
            ],
        );
    }
    check(on, r#"on = { call = { tool = "shell", which = "echo" } }"#, &expect!["fine"]);
    check(on, r#"on = { call = { tool = "list_dir" } }"#, &expect!["fine"]);
}

#[test]
fn syntax_and_types_are_checked() {
    check(
        "title = \"Greet\"",
        "title = Greet",
        &expect![
            "x.toml:2:9: failed to read the playbook as TOML: string values must be quoted, expected literal string"
        ],
    );
    check(
        "title = \"Greet\"",
        "title = \"Greet\"\ntitle = \"again\"",
        &expect!["x.toml:3:1: failed to read the playbook as TOML: duplicate key"],
    );
    check("title = \"Greet\"\n", "", &expect!["x.toml:1:1: failed to find `title`"]);
    check(
        "title = \"Greet\"",
        "title = 3",
        &expect!["x.toml:2:9: failed to read `title`: expected a text, found a number"],
    );
    check("title = \"Greet\"", "title = \"  \"", &expect!["x.toml:2:9: failed to read `title`: it is empty"]);
    check(
        "title = \"Greet\"",
        "title = \"Greet\"\ncolour = \"red\"",
        &expect!["x.toml:3:1: failed to understand the key `colour`"],
    );
    check(
        "name = \"greet\"",
        "name = \"Greet!\"",
        &expect![
            "x.toml:1:8: failed to read `name`: no name: at most 64 small letters, digits, `_` and `-`, a letter first"
        ],
    );
    check(
        "on = \"output\"",
        "on = \"output\"\nweight = 2",
        &expect!["x.toml:15:1: failed to understand the key `weight`"],
    );
    check(
        "[[approach]]",
        "[approach]",
        &expect!["x.toml:17:1: failed to read `approach`: expected an array, found a table"],
    );
}

#[test]
fn patterns_parameters_and_examples_are_checked() {
    check("greet {who}", "greet {whom}", &expect!["x.toml:5:13: failed to find the parameter `whom`"]);
    check(
        "greet {who}",
        "greet (a|b",
        &expect!["x.toml:5:13: failed to read a goal pattern: pair the bracket `(`"],
    );
    check(
        "\"greet {who}\"",
        "\"greet [{who}]\"",
        &expect![
            "x.toml:5:13: failed to read `patterns`: a goal could leave who open, and it has no default"
        ],
    );
    check(
        "\"greet {who}\"",
        "\"greet {who:path}\"",
        &expect!["x.toml:5:13: failed to read `patterns`: the parameter who is a text, not a path"],
    );
    check(
        "\"greet {who}\"",
        "{ match = \"greet\", set = { who = \"all\" } }",
        &expect![[r#"x.toml:4:13: failed to match the example "greet ada""#]],
    );
    check(
        "\"greet {who}\"",
        "{ match = \"greet\", set = { whom = \"all\" } }",
        &expect!["x.toml:5:47: failed to find the parameter `whom`"],
    );
    check(
        "type = \"text\"",
        "type = \"person\"",
        &expect![[
            r#"x.toml:9:8: failed to read `type`: "person" is not one of path, file, directory, file_or_directory, number, size, text, text_or_nothing, glob, pattern, choice"#
        ]],
    );
    check(
        "type = \"text\"",
        "type = \"number\"\nmin = 3\nmax = 2",
        &expect!["x.toml:9:8: failed to read `min`: it is more than max"],
    );
    check(
        "type = \"text\"",
        "type = \"text\"\ndefault = 3",
        &expect!["x.toml:10:11: failed to read `who`: it is not a text"],
    );
    check(
        "type = \"text\"",
        "type = \"text\"\ndefault = \"{home} {nobody}\"",
        &expect!["x.toml:8:1: failed to find the parameter `nobody`"],
    );
    check("\"greet ada\", ", "", &expect!["x.toml:4:12: failed to read `examples`: fewer than two goals"]);
    check(
        "\"greet ada\"",
        "\"salute ada\"",
        &expect![[r#"x.toml:4:13: failed to match the example "salute ada""#]],
    );
}

#[test]
fn criteria_need_checks_that_can_fail() {
    check(
        "criteria = [\"said\"]\noutput",
        "criteria = [\"done\"]\noutput",
        &expect!["x.toml:23:13: failed to find the criterion `done`"],
    );
    check(
        "criteria = [\"said\"]\noutput",
        "criteria = []\noutput",
        &expect!["x.toml:23:12: failed to read `criteria`: no criterion"],
    );
    check(
        "expect = { pointer = { at = \"/text\", is = { equals = \"hello\" } } }",
        "expect = { exit_code = 0 }",
        &expect!["x.toml:12:1: failed to accept the check of `said`: a bad result passes it too"],
    );
    check(
        "at = \"/text\"",
        "at = \"text\"",
        &expect![[
            r#"x.toml:12:1: failed to use the check of `said`: read "text" as a JSON pointer (it must be empty or start with /)"#
        ]],
    );
    check(
        "is = { equals = \"hello\" }",
        "is = { resembles = \"hello\" }",
        &expect![
            "x.toml:12:1: failed to read the check of `said`: unknown variant `resembles`, expected one of `exists`, `equals`, `at_least`, `at_most`, `length`, `contains`, `output`"
        ],
    );
    check(
        "expect = {",
        "expect = { repeat = 0, as = \"i\", of = {} }\n# {",
        &expect![
            "x.toml:12:1: failed to read the check of `said`: repeat 0 times: it must be a number from 1 to the limit"
        ],
    );
    check(
        "expect = {",
        "expect = { repeat = 1000, as = \"i\", of = {} }\n# {",
        &expect![
            "x.toml:12:1: failed to read the check of `said`: repeat 1000 times: it must be a number from 1 to the limit"
        ],
    );
    check(
        "on = \"output\"",
        "on = { probe = { tool = \"shell\", input = { command = \"cat {who}\" } } }\nprograms = [\"cat\"]",
        &expect![
            "x.toml:12:1: failed to accept a shell command: {who} comes from outside and needs the filter sh"
        ],
    );
    check(
        "on = \"output\"",
        "on = { probe = { tool = \"shell\", input = { command = \"cat\" } } }",
        &expect!["x.toml:12:1: failed to find `programs`"],
    );
    check(
        "text = \"{who} was",
        "text = \"{result.1} was",
        &expect!["x.toml:12:1: failed to read a template: find a call 1 before this one"],
    );
}

#[test]
fn values_are_never_inserted_unquoted_into_a_shell() {
    check(
        "{who|sh}",
        "{who}",
        &expect![
            "x.toml:26:1: failed to accept a shell command: {who} comes from outside and needs the filter sh"
        ],
    );
    check(
        "{who|sh}",
        "{who|sh|trim}",
        &expect![
            "x.toml:26:1: failed to accept a shell command: {who} comes from outside and needs the filter sh"
        ],
    );
    check(
        "{who|sh}",
        "'{who|sh}'",
        &expect!["x.toml:26:1: failed to accept a shell command: {who} is inside quotes"],
    );
    check(
        "{who|sh}",
        "\\\"{who|sh}\\\"",
        &expect!["x.toml:26:1: failed to accept a shell command: {who} is inside quotes"],
    );
    check(
        "{who|sh}",
        "\\\\{who|sh}",
        &expect!["x.toml:26:1: failed to accept a shell command: {who} is inside quotes"],
    );
    check(
        "{who|sh}",
        "{cwd}",
        &expect![
            "x.toml:26:1: failed to accept a shell command: {cwd} comes from outside and needs the filter sh"
        ],
    );
    check("{who|sh}", "{cwd|sh}", &expect!["fine"]);
    check("programs = [\"echo\"]\n", "", &expect!["x.toml:26:1: failed to find `programs`"]);
    check(
        "programs = [\"echo\"]",
        "programs = [\"cat\"]",
        &expect!["x.toml:26:1: failed to find the program in the command `cat`"],
    );
    check(
        "tool = \"shell\"",
        "tool = \"grep\"",
        &expect!["x.toml:26:1: failed to read `programs`: only the shell runs programs"],
    );
}

#[test]
fn calls_see_only_earlier_calls() {
    check(
        "{who|sh}",
        "{result.1/stdout|sh}",
        &expect!["x.toml:26:1: failed to read a template: find a call 1 before this one"],
    );
    check(
        "{result.1/stdout|trim}",
        "{result.2/stdout|trim}",
        &expect!["x.toml:21:1: failed to read a template: find a call 2 before this one"],
    );
    check(
        "{result.1/stdout|trim}",
        "{result.1/stdout|shout}",
        &expect!["x.toml:24:19: failed to read a template: read the filter `shout`"],
    );
    check(
        "{result.1/stdout|trim}",
        "{result.1/stdout",
        &expect![
            "x.toml:24:19: failed to read a template: pair the brace `{` (write it twice when it is meant)"
        ],
    );
    check(
        "{result.1/stdout|trim}",
        "{nobody}",
        &expect!["x.toml:21:1: failed to read a template: find a parameter `nobody`"],
    );
}

#[test]
fn approaches_must_be_consistent() {
    let again = "\n[[approach]]\nname = \"shell\"\nnote = \"again\"\n[[approach.step]]\nintent = \"x\"\ncriteria = [\"said\"]\n\
                 output = 1\ncall = [{ tool = \"t\", input = {} }]\n";
    check(
        "input = { command = \"echo hello {who|sh}\" }\n",
        &format!("input = {{ command = \"echo hello {{who|sh}}\" }}\n{again}"),
        &expect!["x.toml:31:1: failed to read `name`: shell is given twice"],
    );
    check(
        "note = \"by echo\"",
        "note = \"by echo\"\nnext = { refine = [\"louder\"] }",
        &expect!["x.toml:17:1: failed to find the variant or approach `louder`"],
    );
    check(
        "note = \"by echo\"",
        "note = \"by echo\"\nnext = { sideways = [\"shell\"] }",
        &expect!["x.toml:20:10: failed to understand the key `sideways`"],
    );
    check(
        "note = \"by echo\"",
        "note = \"by echo\"\nwhen = { mood = \"good\" }",
        &expect!["x.toml:17:1: failed to find the parameter `mood`"],
    );
    check(
        "note = \"by echo\"",
        "note = \"by echo\"\nresult = [2]",
        &expect!["x.toml:17:1: failed to read `result`: there is no such step"],
    );
    check(
        "intent = \"Greet {who}\"",
        "intent = \"Greet {who}\"\ninputs = [1]",
        &expect!["x.toml:21:1: failed to read `inputs`: only earlier steps can be named"],
    );
    check(
        "intent = \"Greet {who}\"",
        "intent = \"Greet {who}\"\non_error = \"panic\"",
        &expect!["x.toml:23:12: failed to read `on_error`: none of answer, continue, give_up"],
    );
}
