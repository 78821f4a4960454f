use expect_test::{Expect, expect};

use crate::toys::echo;

fn fails(script: &str, expected: Expect) {
    expected.assert_eq(&echo(script).unwrap_err().to_string());
}

#[test]
fn a_setting_that_cannot_be_read_names_its_line() {
    fails("# one\n= clock soon\n", expect!["run script line 2: not milliseconds: soon"]);
    fails(
        "> quiesced\n\n= now yesterday\n",
        expect![[r#"run script line 3: read "yesterday" as an RFC 3339 time"#]],
    );
    fails("= colour red\n", expect!["run script line 1: unknown setting colour"]);
    fails("=\n", expect!["run script line 1: unknown setting "]);
}

#[test]
fn an_input_that_cannot_be_read_names_its_first_line() {
    fails("> Whisper {}\n", expect![[r#"run script line 1: read "Whisper" as a message kind"#]]);
    fails(
        "#\n> ApprovalDecision {\"call_id\": \"r3.3/1\",\n  \"decision\": \"once\"}\n> quiesced\n",
        expect!["run script line 2: decode a ApprovalDecision: missing field `digest` at line 2 column 21"],
    );
    fails(
        "> quiesced\n< model\n> ApprovalDecision\n",
        expect!["run script line 3: decode a ApprovalDecision: EOF while parsing a value at line 1 column 0"],
    );
    fails("> reply\n", expect![[r#"run script line 1: read "" as a call id"#]]);
    fails("> reply r9/1 text\n", expect![[r#"run script line 1: read "r9/1" as a call id"#]]);
    fails(
        "> failed r3.3/1 {\"kind\": \"shy\", \"reason\": \"\"}\n",
        expect![
            "run script line 1: unknown variant `shy`, expected one of `unable`, `unavailable`, `unreachable`, `timeout`, `refused`, `too_long` at line 1 column 14"
        ],
    );
    fails("> tool r3.3/1 fine\n", expect!["run script line 1: expected ident at line 1 column 2"]);
    fails("> timer\n", expect![[r#"run script line 1: read "" as a call id"#]]);
    fails("> interrupted now\n", expect![[r#"run script line 1: read "now" as a call id"#]]);
    fails(">\n", expect![[r#"run script line 1: read "" as a message kind"#]]);
}

#[test]
fn a_message_that_the_role_does_not_receive_names_its_line() {
    fails(
        "> quiesced\n> UserInput {\"raw_input\": \"x\"}\n",
        expect!["run script line 2: deliver UserInput: executor does not receive it"],
    );
}

#[test]
fn a_line_of_no_form_names_its_line() {
    fails("> quiesced\nSubTask {}\n", expect!["run script line 2: a line begins with #, =, > or <"]);
    fails(
        "# one\n  an input goes on only under an input\n",
        expect!["run script line 2: a line begins with #, =, > or <"],
    );
}
