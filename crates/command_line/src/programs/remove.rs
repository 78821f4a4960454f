//! Commands that do nothing but remove or make what they name: a person is shown exactly that, and a rule of an approval
//! file about a path can cover it.

use crate::script::Command;
use crate::word::Word;

/// A command that removes or makes what it names, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveOrMake {
    program: &'static str,
    options: Vec<String>,
    paths: Vec<String>,
}

impl RemoveOrMake {
    /// `rm`, `rmdir` or `mkdir`.
    #[must_use]
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// Whether it removes; else it makes directories.
    #[must_use]
    pub fn removes(&self) -> bool {
        self.program != "mkdir"
    }

    /// Whether everything below goes too.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.options.iter().any(|option| option.contains(['r', 'R']))
    }

    /// What it names, literally, relative to the directory that it runs in.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The text that runs, with these names in the place of the paths.
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

/// What the command removes or makes, when it does nothing else. Not `mkdir -p`: it passes through links on its way.
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
