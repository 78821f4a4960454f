//! Redirections: what is opened, and what is written by it.

use brush_parser::ast;

use super::Walk;
use crate::command_line::argument::{Argument, ArgumentKind};
use crate::command_line::expand;
use crate::command_line::grammar::{Meaning, meaning};
use crate::command_line::insides;
use crate::command_line::lex::{Script, Word};
use crate::command_line::normal;
use crate::command_line::programs::Stdin;
use crate::command_line::state::State;
use crate::command_line::verdict::{Reason, Verdict};
use crate::command_line::{Redirection, RedirectionKind};

/// How a redirection is called where a program's name is asked for.
const NAME: &str = "a redirection";

impl Walk {
    /// The redirections of a compound command.
    pub(super) fn redirections(&mut self, script: &Script, list: Option<&ast::RedirectList>, state: &State) {
        for redirection in list.iter().flat_map(|list| &list.0) {
            self.redirection(script, redirection, state);
        }
    }

    /// Judges one redirection, and says what it is and what it makes of the standard input.
    pub(super) fn redirection(
        &mut self,
        script: &Script,
        redirection: &ast::IoRedirect,
        state: &State,
    ) -> (Redirection, Option<Stdin>) {
        match redirection {
            ast::IoRedirect::File(fd, kind, target) => self.file(script, *fd, kind, target, state),
            ast::IoRedirect::OutputAndError(word, appends) => {
                let kind = if *appends { RedirectionKind::Append } else { RedirectionKind::Write };
                let target = self.opened(script, &word.value, state);
                self.written(&target, state);
                (Redirection { fd: None, kind, target }, None)
            }
            ast::IoRedirect::HereDocument(fd, document) => {
                self.text_input(script, *fd, RedirectionKind::HereDocument, &document.doc.value, state)
            }
            ast::IoRedirect::HereString(fd, word) => {
                self.text_input(script, *fd, RedirectionKind::HereString, &word.value, state)
            }
        }
    }

    fn file(
        &mut self,
        script: &Script,
        fd: Option<i32>,
        kind: &ast::IoFileRedirectKind,
        target: &ast::IoFileRedirectTarget,
        state: &State,
    ) -> (Redirection, Option<Stdin>) {
        let text = match target {
            ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                word.value.clone()
            }
            ast::IoFileRedirectTarget::Fd(number) => number.to_string(),
            ast::IoFileRedirectTarget::ProcessSubstitution(..) => {
                // Only a substitution that is a word of its own is one in every shell.
                self.refuse(Reason::syntax("a redirection from parentheses"));
                String::new()
            }
        };
        let target = self.opened(script, &text, state);
        let is_input = fd.is_none_or(|fd| fd == 0);
        let kind = match kind {
            ast::IoFileRedirectKind::Read => {
                self.read(&target, state);
                let stdin = is_input.then(|| Stdin::File(target.clone()));
                return (Redirection { fd, kind: RedirectionKind::Read, target }, stdin);
            }
            ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::Clobber => RedirectionKind::Write,
            ast::IoFileRedirectKind::Append => RedirectionKind::Append,
            ast::IoFileRedirectKind::ReadAndWrite => RedirectionKind::ReadAndWrite,
            ast::IoFileRedirectKind::DuplicateInput => {
                if !is_descriptor(&target) {
                    self.refuse(Reason::syntax("a file descriptor that is only known at run time"));
                }
                let stdin = is_input.then_some(Stdin::Unknown);
                return (Redirection { fd, kind: RedirectionKind::Duplicate, target }, stdin);
            }
            ast::IoFileRedirectKind::DuplicateOutput if is_descriptor(&target) => {
                return (Redirection { fd, kind: RedirectionKind::Duplicate, target }, None);
            }
            // `>&file` writes both outputs to the file.
            ast::IoFileRedirectKind::DuplicateOutput => RedirectionKind::Write,
        };
        self.written(&target, state);
        let stdin = (fd == Some(0) || (fd.is_none() && kind == RedirectionKind::ReadAndWrite))
            .then_some(Stdin::Unknown);
        (Redirection { fd, kind, target }, stdin)
    }

    fn text_input(
        &mut self,
        script: &Script,
        fd: Option<i32>,
        kind: RedirectionKind,
        text: &str,
        state: &State,
    ) -> (Redirection, Option<Stdin>) {
        self.word_substitutions(script, text, state);
        let word = lexeme(script, text);
        let value = word.and_then(|word| expand::value(&word.units, state));
        let target = match (&value, word) {
            (Some(value), _) => Argument::literal(value),
            (None, Some(word)) => Argument::unknown(normal::units(&word.units), true, false),
            // A reserved word as a here-string.
            (None, None) => Argument::literal(text),
        };
        let stdin = match value {
            Some(value) if fd.is_none_or(|fd| fd == 0) => Stdin::Text(value),
            _ => Stdin::Unknown,
        };
        (Redirection { fd, kind, target }, fd.is_none_or(|fd| fd == 0).then_some(stdin))
    }

    /// The word after a redirection.
    fn opened(&mut self, script: &Script, text: &str, state: &State) -> Argument {
        self.word_substitutions(script, text, state);
        match lexeme(script, text) {
            Some(word) => expand::redirected(word, state)
                .unwrap_or_else(|| Argument::unknown(normal::units(&word.units), true, true)),
            None => Argument::literal(text),
        }
    }

    fn read(&mut self, target: &Argument, state: &State) {
        if insides::are_named_by(target, state) {
            self.refuse(Reason::Insides);
        }
        let connects = match target.kind {
            ArgumentKind::Literal | ArgumentKind::Pattern => is_connection(&target.text),
            // A process substitution or a plain word is none; anything else could be.
            ArgumentKind::Unknown { option, splits } => option || splits,
        };
        if connects {
            self.refuse(Reason::Network);
        }
    }

    fn written(&mut self, target: &Argument, state: &State) {
        if target.known() == Some("/dev/null") {
            return;
        }
        if is_connection(&target.text) {
            self.refuse(Reason::Network);
            return;
        }
        match state.targets(NAME, target, false) {
            Ok(targets) => self.add(Verdict::writing(targets)),
            Err(reason) => self.refuse(reason),
        }
    }
}

fn lexeme<'a>(script: &'a Script, text: &str) -> Option<&'a Word> {
    match meaning(text) {
        Meaning::Lexeme(index) => script.word(index),
        Meaning::Text(_) => None,
    }
}

fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp") || path.starts_with("/dev/udp")
}

/// A number, a number to be moved, or a dash.
fn is_descriptor(target: &Argument) -> bool {
    target.known().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(text);
        (!text.is_empty()) && digits.len() < 4 && digits.chars().all(|c| c.is_ascii_digit())
    })
}
