//! `awk`: harmless while its program neither runs commands nor redirects what it prints.

use super::options::{Flags, Order, scan};
use super::{Call, Judgement};
use crate::command_line::verdict::Reason;

const FLAGS: Flags = Flags { short: "", valued: "Fv", long: "", long_valued: "field-separator assign" };

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    if let Some(at) =
        call.args.iter().position(|arg| arg.text.starts_with("-f") || arg.text.starts_with("--file"))
    {
        let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
        judgement.executes.extend(call.args.get(at + 1).cloned());
        return Ok(judgement);
    }
    let scan = scan(call, &FLAGS, Order::FlagsFirst)?;
    let Some((program, files)) = scan.operands.split_first() else {
        return Err(Reason::unknown_argument(call.name));
    };
    let program = program.known().ok_or_else(|| Reason::runs_code(call.name))?;
    if !only_computes(program) {
        return Err(Reason::runs_code(call.name));
    }
    match files.iter().find(|file| file.text.starts_with("/inet")) {
        Some(_) => Err(Reason::Network),
        None => Ok(Judgement::read_only()),
    }
}

/// What a program is cut into, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// A string, a regular expression or a number.
    Value,
    Sign(char),
}

/// Whether a program calls nothing outside itself and prints only to its output.
fn only_computes(program: &str) -> bool {
    tokens(program).is_some_and(|tokens| check(&tokens))
}

fn check(tokens: &[Token]) -> bool {
    // The depth of parentheses at which a `print` waits for its redirection.
    let mut printing: Option<usize> = None;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) => match word.as_str() {
                "system" | "getline" | "extension" => return false,
                "print" | "printf" => printing = Some(depth),
                _ => {}
            },
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => {
                depth = depth.saturating_sub(1);
            }
            Token::Sign(';' | '}') => printing = None,
            Token::Sign('>') if printing.is_some_and(|at_depth| depth <= at_depth) => return false,
            Token::Sign('|') => {
                let doubled = tokens.get(at + 1) == Some(&Token::Sign('|'))
                    || (at > 0 && tokens.get(at - 1) == Some(&Token::Sign('|')));
                if !doubled {
                    return false;
                }
            }
            // Calls by name, and directives that load code.
            Token::Sign('@') => return false,
            Token::Sign(_) | Token::Value => {}
        }
    }
    true
}

fn tokens(program: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = program.chars().collect();
    let mut tokens: Vec<Token> = Vec::new();
    // Whether each open parenthesis belongs to `if`, `while` or `for`: after it, a statement starts.
    let mut parentheses: Vec<bool> = Vec::new();
    let mut closed_condition = false;
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        match c {
            ' ' | '\t' => {
                at += 1;
                continue;
            }
            // Comments and continued lines are where readers of awk programs disagree.
            '#' | '\\' => return None,
            '"' => {
                at = end_of(&chars, at + 1, '"')?;
                tokens.push(Token::Value);
            }
            '/' if starts_regex(tokens.last(), closed_condition)? => {
                at = end_of(&chars, at + 1, '/')?;
                tokens.push(Token::Value);
            }
            _ if c == '_' || c.is_ascii_alphabetic() => {
                let word: String =
                    chars.iter().skip(at).take_while(|c| **c == '_' || c.is_ascii_alphanumeric()).collect();
                at += word.len();
                tokens.push(Token::Word(word));
            }
            _ if c.is_ascii_digit() => {
                at += chars.iter().skip(at).take_while(|c| **c == '.' || c.is_ascii_alphanumeric()).count();
                tokens.push(Token::Value);
            }
            _ => {
                match c {
                    '(' => parentheses.push(matches!(
                        tokens.last(),
                        Some(Token::Word(word)) if matches!(word.as_str(), "if" | "while" | "for" | "switch")
                    )),
                    ')' => closed_condition = parentheses.pop()?,
                    _ => {}
                }
                at += 1;
                tokens.push(Token::Sign(c));
            }
        }
    }
    Some(tokens)
}

/// Whether a slash after `before` starts a regular expression; `None` where that is not sure.
fn starts_regex(before: Option<&Token>, closed_condition: bool) -> Option<bool> {
    match before {
        None => Some(true),
        Some(Token::Value) => Some(false),
        Some(Token::Word(word)) => match word.as_str() {
            "print" | "printf" | "return" | "in" | "else" | "do" | "case" | "exit" => None,
            _ => Some(false),
        },
        Some(Token::Sign(')')) if closed_condition => None,
        Some(Token::Sign(')' | ']' | '$')) => Some(false),
        // `x++ / 2` against `+ /re/`.
        Some(Token::Sign('+' | '-')) => None,
        Some(Token::Sign(_)) => Some(true),
    }
}

/// The position after the closing character of a string or regular expression.
fn end_of(chars: &[char], from: usize, closing: char) -> Option<usize> {
    let mut at = from;
    loop {
        match chars.get(at)? {
            '\n' => return None,
            '\\' => at += 2,
            // A bracket may hide a slash, depending on the implementation.
            '[' if closing == '/' => {
                let set: Vec<char> = chars
                    .iter()
                    .skip(at + 1)
                    .enumerate()
                    .take_while(|(n, c)| *n == 0 || **c != ']')
                    .map(|(_, c)| *c)
                    .collect();
                if set.contains(&'/') || set.contains(&'\\') || set.contains(&'[') {
                    return None;
                }
                at += set.len() + 2;
            }
            c if *c == closing => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_fall_on_the_right_side() {
        for program in [
            "{print $1}",
            "$3 > 5 {print $1, $2}",
            "/a|b/ {print}",
            "END {print NR}",
            "{s += $1} END {print s/NR}",
            "BEGIN {FS=\":\"} {print $1 \" -> \" $2}",
            "NR>1 && $2 !~ /x/ {printf \"%s|%d\\n\", $1, $2}",
            "{if ($1 > 3) print $2; else print \"no\"}",
            "!seen[$0]++",
            "length > 80",
            "{print ($1 > 2)}",
            "NR==FNR{a[$1]=$2;next} $1 in a {print $0, a[$1]}",
            "{n = split($0, p, \"/\"); print p[n]}",
            "a || b",
        ] {
            assert!(only_computes(program), "{program}");
        }
        for program in [
            "{print > \"f\"}",
            "{print $1 >> \"f\"}",
            "{print | \"sh\"}",
            "BEGIN {system(\"id\")}",
            "BEGIN {\"date\" | getline d}",
            "{printf \"x\" > $2}",
            "{print \";\" > \"f\"}",
            "{print /;/ > \"f\"}",
            "{print \"(\" > \"f\"}",
            "{print (1) > \"f\"}",
            "BEGIN {f=\"system\"; @f(\"id\")}",
            "@load \"filefuncs\"",
            "{print |& \"sh\"}",
            "{print # ;\n > \"f\"}",
            "{print \"a\" \"b\" > \"f\"}",
            "{getline < \"f\"}",
            "{print $1,\n $2 > \"f\"}",
        ] {
            assert!(!only_computes(program), "{program}");
        }
    }
}
