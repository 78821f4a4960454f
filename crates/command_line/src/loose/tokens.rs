//! Splits a command into words, operators and here-documents, as roughly as finding names allows.

/// A word, an operator or a here-document; quotes are removed, substitutions are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word {
        text: String,
        is_open: bool,
    },
    Operator(char),
    /// The lines of a here-document, which follow the line that begins it.
    Document {
        text: String,
        is_open: bool,
    },
}

/// A here-document whose lines were not read yet.
struct PendingHereDocument {
    end: String,
    /// Whether it began with `<<-`, so that leading tabs of its lines are dropped.
    is_indented: bool,
    /// Whether the shell expands substitutions in its lines: the word after `<<` has no quotes.
    is_open: bool,
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word: Option<(String, bool)> = None;
    let mut chars = text.chars().peekable();
    let mut quote = None;
    let mut awaited: Vec<PendingHereDocument> = Vec::new();
    while let Some(c) = chars.next() {
        let (text, is_open) = word.get_or_insert_with(Default::default);
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), c) => text.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (_, '\\') => text.extend(chars.next().filter(|c| *c != '\n')),
            (_, '$') if chars.peek() == Some(&'(') => {
                *is_open = true;
                text.push('$');
                balanced(&mut chars, text);
            }
            (_, '$' | '`') => {
                *is_open = true;
                text.push(c);
                if c == '`' {
                    for c in chars.by_ref() {
                        text.push(c);
                        if c == '`' {
                            break;
                        }
                    }
                }
            }
            (Some(_), c) => text.push(c),
            (None, ' ' | '\t') => end(&mut word, &mut out),
            (None, '<') if chars.peek() == Some(&'<') && !is_here_string(&chars) => {
                end(&mut word, &mut out);
                chars.next();
                awaited.push(document(&mut chars));
            }
            (None, '\n') if !awaited.is_empty() => {
                end(&mut word, &mut out);
                out.push(Token::Operator(';'));
                out.extend(awaited.drain(..).map(|document| document.read(&mut chars)));
            }
            (None, '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>') => {
                // A number right before a redirection is what it redirects, not an argument.
                if matches!(c, '<' | '>') && text.chars().all(|c| c.is_ascii_digit()) {
                    word = None;
                }
                end(&mut word, &mut out);
                let operator = if matches!(c, '|' | '<' | '>') { c } else { ';' };
                let is_pair = chars.next_if_eq(&c).is_some();
                chars.next_if(|next| matches!(c, '<' | '>') && matches!(next, '&' | '|' | '<'));
                out.push(Token::Operator(if is_pair && c == '|' { ';' } else { operator }));
            }
            (None, c) => text.push(c),
        }
    }
    end(&mut word, &mut out);
    out
}

fn end(word: &mut Option<(String, bool)>, out: &mut Vec<Token>) {
    if let Some((text, is_open)) = word.take()
        && !text.is_empty()
    {
        out.push(Token::Word { text, is_open });
    }
}

/// Returns whether this `<<` is the beginning of `<<<`.
fn is_here_string(chars: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    chars.clone().take(2).eq("<<".chars())
}

/// Reads what follows `<<`: the word that ends the document.
fn document(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> PendingHereDocument {
    let is_indented = chars.next_if_eq(&'-').is_some();
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut document = PendingHereDocument { end: String::new(), is_indented, is_open: true };
    let mut quote = None;
    while let Some(c) = chars.next_if(|c| quote.is_some() || !" \t\n;|&()<>".contains(*c)) {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                document.is_open = false;
            }
            (None, '\\') => {
                document.is_open = false;
                document.end.extend(chars.next());
            }
            (_, c) => document.end.push(c),
        }
    }
    document
}

impl PendingHereDocument {
    /// Reads its lines up to the one that ends it, or to the end of the text.
    fn read(self, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Token {
        let mut text = String::new();
        while chars.peek().is_some() {
            let mut line: String = chars.by_ref().take_while(|c| *c != '\n').collect();
            if self.is_indented {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line == self.end {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        Token::Document { text, is_open: self.is_open }
    }
}

/// Copies a text in brackets, up to the closing one.
fn balanced(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, text: &mut String) {
    let mut depth = 0_usize;
    for c in chars.by_ref() {
        text.push(c);
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
}

/// Returns the commands in a word's substitutions.
pub(super) fn substitutions(word: &str) -> Vec<String> {
    let mut found: Vec<String> = word.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '$' && chars.peek() == Some(&'(') {
            let mut inner = String::new();
            balanced(&mut chars, &mut inner);
            let inner = inner.strip_prefix('(').unwrap_or_default();
            found.push(inner.strip_suffix(')').unwrap_or(inner).to_owned());
        }
    }
    found
}
