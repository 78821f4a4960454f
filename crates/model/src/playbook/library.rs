//! All known playbooks: built-in ones, and those of a user's directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use setpoint_own_files::named;
use setpoint_protocol::record::NamedPath;

use super::book::{Book, Origin};
use super::built_in;
use super::error::{BrokenPlaybook, PlaybookError};
use super::goal::{Goal, ParamKind, PathRequirement, Vocabulary, find};
use super::limits::{CLOSEST_MAX, PLAYBOOK_BYTES_MAX, PLAYBOOK_FILES_MAX};
use super::read;

/// The playbooks, by name.
#[derive(Debug, Default)]
pub struct Library {
    books: BTreeMap<String, Book>,
    broken: Vec<BrokenPlaybook>,
}

/// The summary of a playbook, for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub name: String,
    /// Title of a few words.
    pub title: String,
    /// What it does and does not do.
    pub description: String,
    /// Origin of the playbook.
    pub origin: Origin,
    /// Goals that it matches.
    pub examples: Vec<String>,
    /// Its parameters, each with type and purpose.
    pub params: Vec<(String, &'static str, String)>,
    /// Its approaches, each with what it can do.
    pub approaches: Vec<(String, String)>,
}

/// The playbook that matches a goal, with the values it takes from it.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalMatch {
    /// Name of the playbook.
    pub playbook: String,
    /// Values of the parameters in the goal; the others have defaults.
    pub values: BTreeMap<String, Value>,
    /// Words as typed, by parameter, whose value lacks a mark that may belong to it: `bar,` for `bar`.
    pub other_readings: BTreeMap<String, String>,
}

/// The same with the playbook itself.
#[derive(Debug)]
pub(crate) struct BookMatch<'l> {
    pub(crate) book: &'l Book,
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) other_readings: BTreeMap<String, String>,
}

impl BookMatch<'_> {
    /// Returns the first text that may have a mark at its end or not: as typed, and without it.
    pub(crate) fn unclear_text(&self) -> Option<(&str, &str)> {
        self.other_readings.iter().find_map(|(name, typed)| {
            let is_path = matches!(self.book.params.get(name)?.kind, ParamKind::Path(_));
            let text = self.values.get(name)?.as_str()?;
            (!is_path).then_some((typed.as_str(), text))
        })
    }
}

impl Library {
    /// Loads the built-in playbooks and the `*.toml` files of a directory, which override those of the same name. A
    /// missing directory has no files. Broken files are listed by [`Library::broken`] and do not affect the others.
    #[must_use]
    pub fn load(user_dir: Option<&Path>) -> Self {
        let mut library = Library::default();
        for (file, text) in built_in::SOURCES {
            match read::book(file, text, Origin::BuiltIn) {
                Ok(book) => library.insert(book),
                Err(broken) => library.broken.push(broken),
            }
        }
        if let Some(dir) = user_dir {
            library.load_directory(dir);
        }
        library
    }

    /// Returns a summary of all playbooks, by name.
    #[must_use]
    pub fn list(&self) -> Vec<Summary> {
        self.books.values().map(summary).collect()
    }

    /// Returns a playbook's summary and the text of its file.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<(Summary, &str)> {
        self.books.get(name).map(|book| (summary(book), book.source.as_str()))
    }

    /// Returns the files that are not used, in the order in which they were found.
    #[must_use]
    pub fn broken(&self) -> &[BrokenPlaybook] {
        &self.broken
    }

    /// Returns the playbook that matches a goal, with the values it takes from it.
    ///
    /// The most specific pattern wins: more words named, then fewer words taken as free text, then a user's playbook
    /// over a built-in one, then the name.
    #[must_use]
    pub fn find(&self, goal: &str) -> Option<GoalMatch> {
        let BookMatch { book, values, other_readings } = self.look_up(goal)?;
        Some(GoalMatch { playbook: book.name.clone(), values, other_readings })
    }

    /// Returns the playbooks closest to a goal that none matches, each with its best example, applied to a path of the
    /// goal if one was `looked_up` and is of the kind that the example takes. None for a goal that forbids something.
    #[must_use]
    pub fn closest(&self, goal: &str, looked_up: &[NamedPath]) -> Vec<(String, String)> {
        let Some(goal) = Goal::read(goal).filter(|goal| !goal.is_forbidding()) else { return Vec::new() };
        let wanted = Vocabulary::of(&goal);
        let paths = goal.paths();
        let named = paths.iter().filter_map(|path| looked_up.iter().find(|named| named.path == *path));
        let named: Vec<&NamedPath> = named.collect();
        let mut close: Vec<(f64, &Book, Vec<&str>)> = Vec::new();
        for book in self.books.values() {
            let known = book.examples.iter().filter_map(|example| {
                let known = Vocabulary::of(&Goal::read(&example.value)?);
                Some((known.closeness(&wanted), example.value.as_str()))
            });
            let mut known: Vec<(f64, &str)> = known.collect();
            // Equal ones keep their order: within a file, then by name.
            known.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            if let Some(&(closeness, _)) = known.first()
                && closeness > 0.0
            {
                close.push((closeness, book, known.into_iter().map(|(_, example)| example).collect()));
            }
        }
        close.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        close
            .into_iter()
            .take(CLOSEST_MAX)
            .filter_map(|(_, book, examples)| {
                // A suggestion must match a playbook, and differ from the goal that did not.
                let is_understood =
                    |own: &String| self.look_up(own).is_some_and(|found| found.book.name == book.name);
                let mut own = examples.iter().map(|example| about(book, example, &named));
                let example =
                    own.find(is_understood).or_else(|| examples.first().map(|&first| first.to_owned()))?;
                Some((book.name.clone(), example))
            })
            .collect()
    }

    pub(crate) fn look_up(&self, goal: &str) -> Option<BookMatch<'_>> {
        let goal = Goal::read(goal)?;
        let goal = &goal;
        let matches = self.books.values().flat_map(|book| {
            book.patterns.iter().filter_map(move |pattern| Some((book, find(pattern, &book.params, goal)?)))
        });
        // The first of equal matches wins, so names and the order within a file decide.
        let best = matches.reduce(|best, other| {
            let key =
                |(book, found): &(&Book, super::goal::Match)| (found.rank, book.origin != Origin::BuiltIn);
            if key(&other) > key(&best) { other } else { best }
        });
        best.map(|(book, found)| {
            let super::goal::Match { values, other_readings, .. } = found;
            BookMatch { book, values, other_readings }
        })
    }

    pub(crate) fn book(&self, name: &str) -> Option<&Book> {
        self.books.get(name)
    }

    pub(super) fn books(&self) -> impl Iterator<Item = &Book> {
        self.books.values()
    }

    pub(super) fn insert(&mut self, book: Book) {
        self.books.insert(book.name.clone(), book);
    }

    fn load_directory(&mut self, dir: &Path) {
        let files = match playbook_files(dir) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.report(dir, PlaybookError::Io(error)),
        };
        for (i, path) in files.iter().enumerate() {
            if i >= PLAYBOOK_FILES_MAX {
                self.report(path, PlaybookError::TooManyFiles);
                break;
            }
            match read_file(path) {
                Ok(book) => self.insert(book),
                Err(broken) => self.broken.push(broken),
            }
        }
    }

    fn report(&mut self, path: &Path, error: PlaybookError) {
        self.broken.push(BrokenPlaybook { file: path.display().to_string(), line: 0, column: 0, error });
    }
}

/// Reads a user's playbook and checks everything that needs no tool catalogue.
pub(super) fn read_file(path: &Path) -> Result<Book, BrokenPlaybook> {
    let file = path.display().to_string();
    let text =
        read_text(path).map_err(|error| BrokenPlaybook { file: file.clone(), line: 0, column: 0, error })?;
    let book = read::book(&file, &text, Origin::File(file.clone()))?;
    match read::verify(&book) {
        Ok(()) => Ok(book),
        Err(fault) => Err(fault.in_file(&file, &text)),
    }
}

fn read_text(path: &Path) -> Result<String, PlaybookError> {
    let bytes = named::read(path, PLAYBOOK_BYTES_MAX as u64).map_err(PlaybookError::Io)?;
    if bytes.len() > PLAYBOOK_BYTES_MAX {
        return Err(PlaybookError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| PlaybookError::NotUtf8)
}

/// Returns the `*.toml` files of a directory, sorted by name, without hidden ones.
fn playbook_files(dir: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns an example with the first fitting path in place of its own.
fn about(book: &Book, example: &str, named: &[&NamedPath]) -> String {
    let taken = Goal::read(example).and_then(|goal| {
        book.patterns.iter().find_map(|pattern| find(pattern, &book.params, &goal)).map(|found| found.values)
    });
    let own = taken.iter().flatten().find_map(|(name, value)| match book.params.get(name)?.kind {
        ParamKind::Path(there) if there != PathRequirement::Anything => Some((value.as_str()?, there)),
        _ => None,
    });
    let Some((own, there)) = own.filter(|(own, _)| !own.is_empty()) else { return example.to_owned() };
    match named.iter().find(|named| named.kind.as_deref().is_some_and(|kind| there.takes(kind))) {
        Some(named) => example.replacen(own, &named.path, 1),
        None => example.to_owned(),
    }
}

fn summary(book: &Book) -> Summary {
    Summary {
        name: book.name.clone(),
        title: book.title.clone(),
        description: book.description.clone(),
        origin: book.origin.clone(),
        examples: book.examples.iter().map(|example| example.value.clone()).collect(),
        params: book
            .params
            .values()
            .map(|param| (param.name.clone(), param.kind.name(), param.description.clone()))
            .collect(),
        approaches: book
            .approaches
            .iter()
            .map(|approach| (approach.name.clone(), approach.note.clone()))
            .collect(),
    }
}
