//! Hidden names of a project that need no question, because what reads them takes data out of them and starts nothing.
//!
//! The list is closed and holds exact names; every other hidden name asks ([`super::watched`]). Decision 0036 says what is
//! known of each reader, and which names are missing here on purpose.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::watched::is_hidden;
use super::{named, outputs};

/// Names of files that start nothing, whatever they hold.
const DATA: &[&[&str]] = &[
    // Patterns of paths. A pattern can hide a new file from `git status`, or show one to `npm publish`: a person sees the
    // change in the task's list of changes, and nothing runs by it.
    &[
        ".containerignore",
        ".dockerignore",
        ".eslintignore",
        ".gitignore",
        ".helmignore",
        ".markdownlintignore",
        ".npmignore",
        ".prettierignore",
        ".stylelintignore",
    ],
    // They keep an empty folder in Git, and no program opens them.
    &[".gitkeep", ".keep"],
    // Names and values of a fixed set, such as indentation.
    &[".editorconfig"],
    // Names of variables, for people to copy: what loads `.env` does not load these.
    &[".env.example", ".env.sample", ".env.template"],
    // Switches of built-in rules. What they extend is read as settings of the same kind, and no key names a plugin.
    &[
        ".clang-format",
        ".markdownlint.json",
        ".markdownlint.jsonc",
        ".yamllint",
        ".yamllint.yaml",
        ".yamllint.yml",
    ],
];

/// The folder of addresses of a web site, and the file in it that is text for people.
const WELL_KNOWN: &str = ".well-known";
const SECURITY: &str = ".well-known/security.txt";

/// Names of files with the version of a language: some readers take a path, or a folder of the project, in its place.
const VERSIONS: &[&str] = &[".python-version", ".ruby-version"];
/// The same for Node, whose versions may begin with `v` or name a line of releases.
const VERSIONS_OF_NODE: &[&str] = &[".node-version", ".nvmrc"];

/// Names of files with options of Prettier, which may also name plugins, parsers and shared settings, all of them code.
const PRETTIER: &[&str] = &[".prettierrc", ".prettierrc.json"];
/// Options that only format.
const OPTIONS_OF_PRETTIER: &[&str] = &[
    "arrowParens",
    "bracketSameLine",
    "bracketSpacing",
    "embeddedLanguageFormatting",
    "endOfLine",
    "htmlWhitespaceSensitivity",
    "jsxSingleQuote",
    "objectWrap",
    "printWidth",
    "proseWrap",
    "quoteProps",
    "semi",
    "singleAttributePerLine",
    "singleQuote",
    "tabWidth",
    "trailingComma",
    "useTabs",
    "vueIndentScriptAndStyle",
];

/// Maximum files whose texts are searched for such names.
const MENTIONING_MAX: usize = 200;
/// Maximum numbers of a version.
const PARTS_MAX: usize = 3;
/// Maximum bytes of a content that is looked at.
pub(crate) const PLAIN_BYTES_MAX: u64 = 4 * 1024;

/// Returns whether a path below the working directory has a hidden name that needs no question by it. `is_plain` tells
/// whether [`is_plain`] holds for its new content.
pub(super) fn is_one(below: &Path, is_plain: bool) -> bool {
    let folder =
        if below.ends_with(SECURITY) { below.parent().and_then(Path::parent) } else { below.parent() };
    // In a hidden folder, other programs obey what has an ordinary name too.
    let is_open = folder.is_some_and(|folder| !folder.iter().any(is_hidden));
    let is_named = is_data(below) || below.ends_with(WELL_KNOWN) || below.ends_with(SECURITY);
    is_open && (is_named || (is_plain && is_judged(below)))
}

/// Such names in files that start something: what they mention asks, in whatever words they do.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentioned(BTreeSet<&'static str>);

impl Mentioned {
    pub(super) fn by(files: &[PathBuf]) -> Self {
        let judged = [VERSIONS, VERSIONS_OF_NODE, PRETTIER];
        let ordinary = DATA.iter().copied().chain(judged).flatten().copied();
        let all: Vec<&str> = ordinary.chain([SECURITY]).chain(outputs::names()).collect();
        let texts = files.iter().filter_map(|file| named::text(file)).take(MENTIONING_MAX);
        let in_text =
            |text: String| all.iter().copied().filter(|name| text.contains(name)).collect::<Vec<_>>();
        Mentioned(texts.flat_map(in_text).collect())
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        path.ancestors().any(|at| self.0.iter().any(|name| at.ends_with(name)))
    }
}

/// Returns whether a file of that name starts nothing, whatever it holds.
pub(super) fn is_data(path: &Path) -> bool {
    DATA.iter().any(|names| has_name(path, names))
}

/// Returns whether a file of that name starts nothing if [`is_plain`] holds for its content.
pub(crate) fn is_judged(path: &Path) -> bool {
    [VERSIONS, VERSIONS_OF_NODE, PRETTIER].iter().any(|names| has_name(path, names))
}

/// Returns whether a whole content starts nothing in a file of that name. What is not understood does not pass.
pub(crate) fn is_plain(path: &Path, content: &[u8]) -> bool {
    let Some(text) = str::from_utf8(content).ok().filter(|text| text.len() as u64 <= PLAIN_BYTES_MAX) else {
        return false;
    };
    let line = text.strip_suffix('\n').unwrap_or(text);
    if has_name(path, VERSIONS) {
        is_version(line)
    } else if has_name(path, VERSIONS_OF_NODE) {
        is_version(line.strip_prefix('v').unwrap_or(line)) || is_release_line(line)
    } else {
        has_name(path, PRETTIER) && only_formats(text)
    }
}

/// Exactly these bytes: another spelling is another file to most readers, and asks.
fn has_name(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|one| name == *one))
}

/// Returns whether it is a version as languages have them: up to three numbers of one or two digits, with dots between them.
/// Anything else could be the name of a folder, which some readers take for that of a program.
fn is_version(text: &str) -> bool {
    let is_number =
        |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').count() <= PARTS_MAX && text.split('.').all(is_number)
}

fn is_release_line(text: &str) -> bool {
    let name = text.strip_prefix("lts/").unwrap_or_default();
    name == "*" || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Returns whether it is a flat object of JSON with nothing but options that format. A text alone would be a package.
fn only_formats(text: &str) -> bool {
    // Prettier reads it as YAML, which has other escapes.
    let read = Some(text).filter(|text| !text.contains('\\')).map(serde_json::from_str);
    let Some(Ok(Value::Object(options))) = read else { return false };
    options.iter().all(|(name, value)| {
        let is_simple = match value {
            Value::Bool(_) | Value::Number(_) => true,
            Value::String(word) => word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        is_simple && OPTIONS_OF_PRETTIER.contains(&name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_that_names_code_is_not_plain() {
        let plain = [
            (".nvmrc", "20"),
            (".nvmrc", "v20.11.1\n"),
            (".nvmrc", "lts/*\n"),
            (".node-version", "lts/iron"),
            ("sub/.python-version", "3.12.1\n"),
            (".ruby-version", "3.3.0"),
            (".prettierrc", "{}"),
            (".prettierrc", "{\"semi\": false, \"tabWidth\": 2, \"endOfLine\": \"lf\"}\n"),
            (".prettierrc.json", "{\"trailingComma\": \"es5\"}"),
        ];
        for (name, content) in plain {
            assert!(is_plain(Path::new(name), content.as_bytes()), "{name}: {content}");
        }
        let other = [
            // A path, and a folder of the project.
            (".nvmrc", "/srv/project/x"),
            (".nvmrc", "../../x"),
            (".nvmrc", "lts/../../x"),
            (".nvmrc", "lts/"),
            (".nvmrc", "x"),
            (".nvmrc", "v"),
            (".nvmrc", "20..1"),
            // Folders of the project, to `uv`.
            (".python-version", "3.11.4.5"),
            (".python-version", "3.300"),
            (".python-version", "20240101"),
            (".nvmrc", ""),
            (".nvmrc", "20\npath:/x\n"),
            (".nvmrc", "20\r\n"),
            (".node-version", "path:/srv/x"),
            (".python-version", "./venv/bin/python3"),
            (".python-version", "venv"),
            (".python-version", "v3.12"),
            (".python-version", "3.12x"),
            (".python-version", "3.12\n3.11\n"),
            (".python-version", "lts/iron"),
            (".ruby-version", "ref:main"),
            // Code that Prettier loads.
            (".prettierrc", "{\"plugins\": [\"./x.js\"]}"),
            (
                ".prettierrc",
                "{\"semi\": true, \"overrides\": [{\"files\": \"*\", \"options\": {\"plugins\": [\"x\"]}}]}",
            ),
            (".prettierrc", "{\"pl\\u0075gins\": [\"./x.js\"]}"),
            (".prettierrc", "{\"s\\u0065mi\": true}"),
            (".prettierrc", "{\"parser\": \"x\"}"),
            (".prettierrc", "{\"pluginSearchDirs\": \"x\"}"),
            (".prettierrc", "{\"endOfLine\": \"./x.js\"}"),
            (".prettierrc", "{\"semi\": [\"x\"]}"),
            (".prettierrc", "\"@company/config\""),
            (".prettierrc", "semi: false\n"),
            (".prettierrc", "{\"semi\": true} plugins: x"),
            (".prettierrc", ""),
            (".prettierrc.json", "{\"$schema\": \"https://example.org\"}"),
            // Not judged by what is in them.
            (".prettierrc.yaml", "{}"),
            (".envrc", "20"),
            ("nvmrc", "20"),
            (".NVMRC", "20"),
        ];
        for (name, content) in other {
            assert!(!is_plain(Path::new(name), content.as_bytes()), "{name}: {content}");
        }
        let long = format!("{{{}}}", " ".repeat(5_000));
        assert!(!is_plain(Path::new(".prettierrc"), long.as_bytes()));
        assert!(!is_plain(Path::new(".nvmrc"), b"2\xff"));
    }

    #[test]
    fn an_ordinary_name_counts_at_its_place_and_exactly() {
        for path in [".gitignore", "a/b/.editorconfig", ".well-known", "public/.well-known/security.txt"] {
            assert!(is_one(Path::new(path), false), "{path}");
        }
        for path in [
            ".GITIGNORE",
            ".gitignore ",
            ".gitignore.",
            "\u{200c}.gitignore",
            ".gitignore/x",
            ".github/.gitkeep",
            ".git/.keep",
            "a/.husky/.gitignore",
            ".x/.well-known/security.txt",
            ".well-known/x/security.txt",
            ".well-known/assetlinks.json",
            ".well-known/.well-known/security.txt",
            ".nvmrc",
        ] {
            assert!(!is_one(Path::new(path), false), "{path}");
        }
        assert!(is_one(Path::new("a/.nvmrc"), true) && !is_one(Path::new(".envrc"), true));
        assert!(!is_one(Path::new(".x/.nvmrc"), true));
    }
}
