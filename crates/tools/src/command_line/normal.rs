//! The normal form of words for people and for comparison: quoted the same way however they were written.

use super::argument::{Argument, ArgumentKind};
use super::lex::{Form, LexemeKind, Parameter, Piece, Script, Unit};

/// Arguments as one line that the shell would read back as the same arguments.
pub(super) fn line(argv: &[Argument]) -> String {
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(argument: &Argument) -> String {
    match argument.kind {
        ArgumentKind::Literal => quoted(&argument.text),
        ArgumentKind::Pattern | ArgumentKind::Unknown { .. } => argument.text.clone(),
    }
}

/// `text` as one shell word.
pub(super) fn quoted(text: &str) -> String {
    let stands_alone = matches!(text, "[" | "]" | "{}" | "!");
    if stands_alone || (!text.is_empty() && text.chars().all(is_plain)) {
        return text.to_owned();
    }
    if text.chars().any(char::is_control) {
        let escaped: String = text.chars().map(escaped_char).collect();
        return format!("$'{escaped}'");
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Units before expansion: characters quoted where they need it, pieces as they are written.
pub(super) fn units(units: &[Unit]) -> String {
    let mut out = String::new();
    let mut run = String::new();
    for unit in units {
        match unit {
            Unit::Char { c, quoted: true } => run.push(*c),
            Unit::Char { c, quoted: false } if is_plain(*c) => run.push(*c),
            Unit::Char { c, quoted: false } => {
                flush(&mut run, &mut out);
                out.push(*c);
            }
            Unit::Piece { piece, quoted } => {
                flush(&mut run, &mut out);
                let text = self::piece(piece);
                if *quoted {
                    out.push('"');
                    out.push_str(&text);
                    out.push('"');
                } else {
                    out.push_str(&text);
                }
            }
        }
    }
    flush(&mut run, &mut out);
    out
}

/// A script on one line.
pub(super) fn script(script: &Script) -> String {
    let mut parts: Vec<String> = Vec::new();
    // A descriptor stays with its operator: `echo 2>a` is not `echo 2 >a`.
    let mut descriptor = String::new();
    for lexeme in &script.lexemes {
        match &lexeme.kind {
            LexemeKind::Operator("\n") => {
                if parts.last().is_some_and(|last| last != ";") {
                    parts.push(";".to_owned());
                }
            }
            LexemeKind::Operator(operator) => {
                parts.push(format!("{}{operator}", std::mem::take(&mut descriptor)));
            }
            LexemeKind::Word(word) if word.units.is_empty() => parts.push("''".to_owned()),
            LexemeKind::Word(word) | LexemeKind::HereDocument(word) => parts.push(units(&word.units)),
            LexemeKind::Number(digits) => descriptor.clone_from(digits),
            LexemeKind::Arithmetic(arithmetic) => parts.push(units(&arithmetic.units)),
            LexemeKind::HereTag => {}
        }
    }
    while parts.last().is_some_and(|last| last == ";") {
        parts.pop();
    }
    parts.join(" ")
}

fn flush(run: &mut String, out: &mut String) {
    if !run.is_empty() {
        out.push_str(&quoted(run));
        run.clear();
    }
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Parameter(parameter) => self::parameter(parameter),
        Piece::Command(inner) => format!("$({})", script(inner)),
        Piece::Process { script: inner, writes: true } => format!(">({})", script(inner)),
        Piece::Process { script: inner, writes: false } => format!("<({})", script(inner)),
        Piece::Arithmetic(arithmetic) => format!("$(({}))", units(&arithmetic.units).trim()),
    }
}

fn parameter(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match &parameter.form {
        Form::Plain => format!("${{{name}}}"),
        Form::Length => format!("${{#{name}}}"),
        Form::Default(word) => format!("${{{name}:-{}}}", units(word)),
        Form::Assign(word) => format!("${{{name}:={}}}", units(word)),
        Form::Other(word) => format!("${{{name}|{}}}", units(word)),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c) || (!c.is_ascii() && !c.is_whitespace())
}

fn escaped_char(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        '\'' => r"\'".to_owned(),
        '\\' => r"\\".to_owned(),
        _ if c.is_control() => format!(r"\x{:02x}", u32::from(c)),
        _ => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_needed() {
        assert_eq!(quoted("src/lib.rs"), "src/lib.rs");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a\nb"), r"$'a\nb'");
        assert_eq!(quoted("*"), "'*'");
    }
}
