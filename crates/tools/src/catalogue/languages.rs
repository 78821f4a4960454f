//! Tells the language of a file from its name.

/// Extensions in lower case, sorted.
const BY_EXTENSION: &[(&str, &str)] = &[
    ("adoc", "AsciiDoc"),
    ("asm", "Assembly"),
    ("astro", "Astro"),
    ("awk", "AWK"),
    ("bash", "Shell"),
    ("bat", "Batch"),
    ("c", "C"),
    ("cc", "C++"),
    ("cfg", "INI"),
    ("clj", "Clojure"),
    ("cljs", "Clojure"),
    ("cmake", "CMake"),
    ("conf", "Configuration"),
    ("cpp", "C++"),
    ("cs", "C#"),
    ("css", "CSS"),
    ("csv", "CSV"),
    ("cu", "CUDA"),
    ("cxx", "C++"),
    ("d", "D"),
    ("dart", "Dart"),
    ("el", "Emacs Lisp"),
    ("elm", "Elm"),
    ("erl", "Erlang"),
    ("ex", "Elixir"),
    ("exs", "Elixir"),
    ("f90", "Fortran"),
    ("fish", "Shell"),
    ("fs", "F#"),
    ("glsl", "GLSL"),
    ("go", "Go"),
    ("gradle", "Gradle"),
    ("graphql", "GraphQL"),
    ("groovy", "Groovy"),
    ("h", "C"),
    ("hcl", "HCL"),
    ("hh", "C++"),
    ("hpp", "C++"),
    ("hs", "Haskell"),
    ("htm", "HTML"),
    ("html", "HTML"),
    ("hxx", "C++"),
    ("ini", "INI"),
    ("ipynb", "Jupyter Notebook"),
    ("java", "Java"),
    ("jl", "Julia"),
    ("js", "JavaScript"),
    ("json", "JSON"),
    ("jsonl", "JSON"),
    ("jsx", "JavaScript"),
    ("kt", "Kotlin"),
    ("kts", "Kotlin"),
    ("less", "CSS"),
    ("lisp", "Lisp"),
    ("log", "Log"),
    ("lua", "Lua"),
    ("m", "Objective-C"),
    ("markdown", "Markdown"),
    ("md", "Markdown"),
    ("mjs", "JavaScript"),
    ("ml", "OCaml"),
    ("mli", "OCaml"),
    ("mm", "Objective-C"),
    ("nim", "Nim"),
    ("nix", "Nix"),
    ("org", "Org"),
    ("pas", "Pascal"),
    ("php", "PHP"),
    ("pl", "Perl"),
    ("pm", "Perl"),
    ("proto", "Protocol Buffers"),
    ("ps1", "PowerShell"),
    ("py", "Python"),
    ("pyi", "Python"),
    ("r", "R"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("rst", "reStructuredText"),
    ("s", "Assembly"),
    ("sass", "CSS"),
    ("scala", "Scala"),
    ("scm", "Scheme"),
    ("scss", "CSS"),
    ("sh", "Shell"),
    ("sol", "Solidity"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("svg", "SVG"),
    ("swift", "Swift"),
    ("tcl", "Tcl"),
    ("tex", "TeX"),
    ("tf", "HCL"),
    ("toml", "TOML"),
    ("ts", "TypeScript"),
    ("tsv", "TSV"),
    ("tsx", "TypeScript"),
    ("txt", "Text"),
    ("v", "Verilog"),
    ("vala", "Vala"),
    ("vb", "Visual Basic"),
    ("vhd", "VHDL"),
    ("vim", "Vim script"),
    ("vue", "Vue"),
    ("xml", "XML"),
    ("yaml", "YAML"),
    ("yml", "YAML"),
    ("zig", "Zig"),
    ("zsh", "Shell"),
];

/// Whole names in lower case.
const BY_NAME: &[(&str, &str)] = &[
    ("cmakelists.txt", "CMake"),
    ("containerfile", "Dockerfile"),
    ("dockerfile", "Dockerfile"),
    ("gemfile", "Ruby"),
    ("gnumakefile", "Makefile"),
    ("jenkinsfile", "Groovy"),
    ("justfile", "Just"),
    ("makefile", "Makefile"),
    ("rakefile", "Ruby"),
];

/// The language of text files with an unknown name.
pub(super) const OTHER: &str = "other";

/// Returns the language of a file with this name.
pub(super) fn of(name: &str) -> &'static str {
    let name = name.to_lowercase();
    if let Some((_, language)) = BY_NAME.iter().find(|(known, _)| *known == name) {
        return language;
    }
    of_ending(&ending(&name))
}

/// Returns the text after the last dot of a name, in lower case; empty if there is no dot, or if the only dot is the
/// first character.
pub(super) fn ending(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => ending.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// Returns the language of names with this lower-case ending.
pub(super) fn of_ending(ending: &str) -> &'static str {
    match BY_EXTENSION.binary_search_by_key(&ending, |(known, _)| known) {
        Ok(at) => BY_EXTENSION.get(at).map_or(OTHER, |(_, language)| language),
        Err(_) => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(BY_EXTENSION.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn language_is_derived_from_the_name() {
        for (name, language) in [
            ("main.rs", "Rust"),
            ("A.PY", "Python"),
            ("Makefile", "Makefile"),
            ("x.tar.gz", OTHER),
            (".bashrc", OTHER),
            ("README", OTHER),
            ("日本.md", "Markdown"),
            ("CMakeLists.txt", "CMake"),
        ] {
            assert_eq!(of(name), language, "{name}");
        }
    }
}
