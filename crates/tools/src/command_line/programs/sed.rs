//! `sed`: harmless while its script only edits the stream; `-i` writes the files, `w` and `e` write and run.

use super::options::{Flags, Order, Scan, scan};
use super::{Call, Judgement};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::{Reason, Verdict};

const FLAGS: Flags = Flags {
    short: "nErsuz",
    valued: "el",
    long: "quiet silent regexp-extended separate unbuffered null-data in-place posix debug sandbox \
                follow-symlinks",
    long_valued: "expression line-length",
};

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    if let Some(file) = script_file(call) {
        let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
        judgement.executes.extend(file);
        return Ok(judgement);
    }
    let (args, in_place) = without_in_place(call.args);
    let call = Call { args: &args, ..*call };
    let scan = scan(&call, &FLAGS, Order::Mixed)?;
    let in_place = in_place || scan.has("in-place");
    let has_backup_path = scan.values(&["in-place"]).any(|suffix| suffix.text.contains(['/', '*']));
    let (scripts, files) = scripts_and_files(&call, &scan)?;
    for script in scripts {
        let text = script.known().ok_or_else(|| Reason::unknown_argument(call.name))?;
        if !is_stream_edit(text) {
            return Err(Reason::unlisted_argument(call.name, text));
        }
    }
    if !in_place {
        return Ok(Judgement::read_only());
    }
    if has_backup_path {
        return Err(Reason::unknown_path(call.name));
    }
    let mut targets = Vec::new();
    for file in files {
        targets.extend(call.state.targets(call.name, file, false)?);
    }
    Ok(Judgement::new(Verdict::writing(targets)))
}

/// The file after `-f`.
fn script_file(call: &Call<'_>) -> Option<Option<Argument>> {
    let at = call.args.iter().position(|arg| {
        arg.text.starts_with("--file")
            || (arg.text.starts_with('-') && !arg.text.starts_with("--") && takes_file(&arg.text))
    })?;
    Some(
        call.args
            .get(at + 1)
            .filter(|_| call.args.get(at).is_some_and(|arg| arg.text.ends_with('f')))
            .cloned(),
    )
}

/// Whether a group of short flags holds `f` before a flag with a value.
fn takes_file(group: &str) -> bool {
    group.chars().skip(1).take_while(|c| !matches!(c, 'e' | 'l' | 'i')).any(|c| c == 'f')
}

/// Takes `-i` and its glued suffix out of the flags.
fn without_in_place(args: &[Argument]) -> (Vec<Argument>, bool) {
    let mut found = false;
    let mut others = Vec::new();
    for arg in args {
        let group = arg.known().filter(|text| text.starts_with('-') && !text.starts_with("--"));
        let cut = group
            .and_then(|text| text.split_once('i'))
            .filter(|(before, _)| before.chars().skip(1).all(|c| "nErsuz".contains(c)));
        match cut {
            // A suffix with a directory or `*` puts the backup somewhere else: left in, so that it is refused.
            Some((before, suffix)) if !suffix.contains(['/', '*']) => {
                found = true;
                if before != "-" {
                    others.push(Argument::literal(before));
                }
            }
            _ => others.push(arg.clone()),
        }
    }
    (others, found)
}

type ScriptsAndFiles<'a> = (Vec<Argument>, Vec<&'a Argument>);

fn scripts_and_files<'a>(call: &Call<'_>, scan: &Scan<'a>) -> Result<ScriptsAndFiles<'a>, Reason> {
    let scripts: Vec<Argument> = scan.values(&["e", "expression"]).cloned().collect();
    if !scripts.is_empty() {
        return Ok((scripts, scan.operands.clone()));
    }
    let (first, rest) = scan.operands.split_first().ok_or_else(|| Reason::unknown_argument(call.name))?;
    Ok((vec![(*first).clone()], rest.to_vec()))
}

/// Whether a script holds only commands that edit the stream or read files.
fn is_stream_edit(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    Script { chars: &chars, at: 0 }.commands().is_some()
}

struct Script<'a> {
    chars: &'a [char],
    at: usize,
}

impl Script<'_> {
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(&[' ', '\t', '\n', ';', '}']);
            if self.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.skip(&[' ']);
            if self.peek() == Some(',') {
                self.at += 1;
                self.skip(&[' ']);
                if !self.address()? {
                    return None;
                }
            }
        }
        self.skip(&[' ', '!']);
        Some(())
    }

    /// Whether there was one; `None` for one that is not understood.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.up_to('/')?;
                self.skip(&['I', 'M']);
            }
            Some('\\') => {
                let delimiter = self.chars.get(self.at + 1).copied().filter(|c| *c != '\n' && *c != '\\')?;
                self.at += 2;
                self.up_to(delimiter)?;
                self.skip(&['I', 'M']);
            }
            Some('+') => {
                self.at += 1;
                self.digits();
            }
            Some(c) if c.is_ascii_digit() => {
                self.digits();
                if self.peek() == Some('~') {
                    self.at += 1;
                    self.digits();
                }
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn command(&mut self) -> Option<()> {
        let command = self.peek()?;
        self.at += 1;
        match command {
            '{' => {
                return Some(());
            }
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'F' => {}
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(&[' ']);
                self.digits();
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.up_to(delimiter)?;
                self.up_to(delimiter)?;
                // Neither `w` nor `e`.
                while matches!(self.peek(), Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')) {
                    self.at += 1;
                }
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.up_to(delimiter)?;
                self.up_to(delimiter)?;
            }
            'a' | 'i' | 'c' => {
                let rest = self.line();
                let continues = rest.iter().skip(1).any(|c| *c == '\\');
                return (!continues).then_some(());
            }
            'r' => {
                self.line();
                return Some(());
            }
            'b' | 't' | 'T' | ':' => {
                self.skip(&[' ']);
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
            }
            _ => return None,
        }
        self.skip(&[' ', '\t']);
        match self.peek() {
            None | Some(';' | '\n' | '}') => Some(()),
            Some(_) => None,
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        let delimiter =
            self.peek().filter(|c| !matches!(c, '\n' | '\\' | ' ' | ';') && !c.is_ascii_alphanumeric())?;
        self.at += 1;
        Some(delimiter)
    }

    fn up_to(&mut self, delimiter: char) -> Option<()> {
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                // Whether a bracket hides the delimiter depends on the implementation.
                '[' if self.bracket_holds(delimiter) => return None,
                '\n' => return None,
                _ if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// After `[`: whether the delimiter comes before the `]` that ends the set.
    fn bracket_holds(&self, delimiter: char) -> bool {
        self.chars
            .iter()
            .skip(self.at)
            .enumerate()
            .take_while(|(at, c)| *at == 0 || **c != ']')
            .any(|(_, c)| *c == delimiter)
    }

    fn line(&mut self) -> &[char] {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn skip(&mut self, what: &[char]) {
        while self.peek().is_some_and(|c| what.contains(&c)) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_fall_on_the_right_side() {
        for text in [
            "s/a/b/",
            "s|a|b|g",
            "1,10p",
            "$!d",
            "/start/,/end/p",
            "s/a/b/;s/c/d/",
            "/x/{s/a/b/;p}",
            "5q",
            "10,$d",
            "s/[^a-z]//g",
            "y/abc/xyz/",
            r"s/\//-/",
            "$=",
            "/^#/d",
            "a hello",
            "2~3p",
            "1!G;h;$!d",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/I,+3p",
        ] {
            assert!(is_stream_edit(text), "{text}");
        }
        for text in [
            "w out",
            "s/a/b/w out",
            "s/a/b/e",
            "1e",
            "e rm x",
            "/x/w out",
            "s/a/b/gw out",
            "s/[/]/w x/e",
            "W out",
            "p;w out",
            "{w out\n}",
            "r x\nw out",
            "a text\\\nmore",
            "s/a/b",
            "R x",
            "y/a/b/w x",
            "s/a/b/ w out",
            "b x;w out",
            "}w out",
            "v w",
        ] {
            assert!(!is_stream_edit(text), "{text}");
        }
    }
}
