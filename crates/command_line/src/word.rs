//! A word whose parts are all known.

/// One word of a command, without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    parts: Vec<Part>,
    /// Whether a part was quoted, escaped or expanded: the word is then not an operator, reserved word or assignment.
    pub(crate) is_quoted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Literal text.
    Text(String),
    /// A wildcard as bash reads it: `*`, `?` or a bracket expression.
    Wildcard(String),
}

impl Word {
    pub(crate) fn push(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(c),
            _ => self.parts.push(Part::Text(c.to_string())),
        }
    }

    pub(crate) fn push_wildcard(&mut self, wildcard: String) {
        self.parts.push(Part::Wildcard(wildcard));
    }

    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], is_quoted: true }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the text that the program gets; `None` if it depends on a wildcard.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns whether the word, or one of its matches, may begin with a dash.
    pub(crate) fn may_be_option(&self) -> bool {
        match self.parts.first() {
            Some(Part::Text(text)) => text.starts_with('-') && text != "-",
            Some(Part::Wildcard(_)) => true,
            None => false,
        }
    }

    /// Returns the pattern for matching file names: literal characters that look like wildcards are escaped by a
    /// backslash.
    pub(crate) fn pattern(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Wildcard(wildcard) => out.push_str(wildcard),
                Part::Text(text) => {
                    for c in text.chars() {
                        if "*?[]{}\\!,".contains(c) {
                            out.push('\\');
                        }
                        out.push(c);
                    }
                }
            }
        }
        out
    }

    /// Returns the word as bash reads it back: quoted, except for its wildcards.
    pub(crate) fn rendered(&self) -> String {
        if self.parts.is_empty() {
            return "''".to_owned();
        }
        let quote = |part: &Part| match part {
            Part::Text(text) => quoted(text),
            Part::Wildcard(wildcard) => wildcard.clone(),
        };
        self.parts.iter().map(quote).collect()
    }
}

/// Returns whether the list `names`, separated by blanks, contains `name`.
pub(crate) fn lists(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

/// Quotes `text` as one shell word.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_survives_every_character() {
        for (text, word) in [
            ("src/lib.rs", "src/lib.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("*", "'*'"),
            ("~", "'~'"),
            ("{a,b}", "'{a,b}'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
