//! Commands that only remove or create the paths that they name: a person is shown exactly those, and a path rule of an
//! approval file can cover them.

use crate::script::Command;
use crate::word::Word;

/// A command that only removes or creates the paths that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveOrMake {
    program: &'static str,
    options: Vec<String>,
    paths: Vec<String>,
}

impl RemoveOrMake {
    /// Returns `rm`, `rmdir` or `mkdir`.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// Returns whether it removes; otherwise it creates directories.
    #[must_use]
    pub fn removes(&self) -> bool {
        self.program != "mkdir"
    }

    /// Returns whether it also removes everything below.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.options.iter().any(|option| option.contains(['r', 'R']))
    }

    /// Returns its literal paths, relative to the directory in which it runs.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the text that runs, with these names in place of the paths.
    #[must_use]
    pub fn rendered<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> String {
        let options = self.options.iter().map(String::as_str);
        let mut words: Vec<String> =
            std::iter::once(self.program).chain(options).map(str::to_owned).collect();
        words.push("--".to_owned());
        words.extend(names.into_iter().map(crate::word::quoted));
        words.join(" ")
    }
}

/// Returns what the command removes or creates, if it does nothing else. Excludes `mkdir -p`, which passes through links.
pub(crate) fn judge(command: &Command) -> Option<RemoveOrMake> {
    let (program, words) = command.words.split_first()?;
    let (program, letters) = match program.text()? {
        "rm" => ("rm", "rRfv"),
        "rmdir" => ("rmdir", "v"),
        "mkdir" => ("mkdir", "v"),
        _ => return None,
    };
    if !command.redirections.is_empty() {
        return None;
    }
    let mut found = RemoveOrMake { program, options: Vec::new(), paths: Vec::new() };
    let mut has_ended = false;
    for text in words.iter().map(Word::text) {
        let text = text?;
        match text.strip_prefix('-') {
            Some("-") if !has_ended => has_ended = true,
            Some(option) if !has_ended => {
                if option.is_empty() || !option.chars().all(|c| letters.contains(c)) {
                    return None;
                }
                found.options.push(text.to_owned());
            }
            _ => found.paths.push(text.to_owned()),
        }
    }
    (!found.paths.is_empty() && found.paths.iter().all(|path| !path.is_empty())).then_some(found)
}
