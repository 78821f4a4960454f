//! An argument as a program will get it, as far as that is known.

/// One word of a command after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The value of a literal; the pattern, with a backslash before every character that stands for itself though it looks
    /// like a wildcard; else the word as written, in normal form.
    pub text: String,
    /// How much of it is known.
    pub kind: ArgumentKind,
}

/// How much is known about an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The text is what the program gets.
    Literal,
    /// The text is a file name pattern: the program gets what it matches, or the text itself where nothing does.
    Pattern,
    /// Only known when the command runs.
    Unknown {
        /// It could start with a dash.
        option: bool,
        /// It could be no argument at all, or several.
        splits: bool,
    },
}

impl Argument {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: ArgumentKind::Literal }
    }

    pub(super) fn unknown(text: impl Into<String>, option: bool, splits: bool) -> Self {
        Self { text: text.into(), kind: ArgumentKind::Unknown { option, splits } }
    }

    /// The value, where it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self.kind {
            ArgumentKind::Literal => Some(&self.text),
            ArgumentKind::Pattern | ArgumentKind::Unknown { .. } => None,
        }
    }

    /// Whether a program could take it for a flag although its text is not known.
    pub(super) fn may_be_option(&self) -> bool {
        match self.kind {
            ArgumentKind::Literal => false,
            ArgumentKind::Pattern => self.text.starts_with(['*', '?', '[', '-']),
            ArgumentKind::Unknown { option, .. } => option,
        }
    }

    /// Whether it is exactly one argument.
    pub(super) fn is_single(&self) -> bool {
        match self.kind {
            ArgumentKind::Literal => true,
            ArgumentKind::Pattern => false,
            ArgumentKind::Unknown { splits, .. } => !splits,
        }
    }
}
