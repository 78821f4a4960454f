//! Tells the language of a file from its name.

/// The language of text files with an unknown name.
pub(super) const OTHER: &str = "other";

/// Returns the language of a file with this name.
pub(super) fn of(name: &str) -> &'static str {
    let name = name.to_lowercase();
    match name.as_str() {
        "cmakelists.txt" => "CMake",
        "containerfile" | "dockerfile" => "Dockerfile",
        "gemfile" | "rakefile" => "Ruby",
        "gnumakefile" | "makefile" => "Makefile",
        "jenkinsfile" => "Groovy",
        "justfile" => "Just",
        name => of_ending(&ending(name)),
    }
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
    match ending {
        "adoc" => "AsciiDoc",
        "asm" | "s" => "Assembly",
        "astro" => "Astro",
        "awk" => "AWK",
        "bash" | "fish" | "sh" | "zsh" => "Shell",
        "bat" => "Batch",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => "C++",
        "cfg" | "ini" => "INI",
        "clj" | "cljs" => "Clojure",
        "cmake" => "CMake",
        "conf" => "Configuration",
        "cs" => "C#",
        "css" | "less" | "sass" | "scss" => "CSS",
        "csv" => "CSV",
        "cu" => "CUDA",
        "d" => "D",
        "dart" => "Dart",
        "el" => "Emacs Lisp",
        "elm" => "Elm",
        "erl" => "Erlang",
        "ex" | "exs" => "Elixir",
        "f90" => "Fortran",
        "fs" => "F#",
        "glsl" => "GLSL",
        "go" => "Go",
        "gradle" => "Gradle",
        "graphql" => "GraphQL",
        "groovy" => "Groovy",
        "hcl" | "tf" => "HCL",
        "hs" => "Haskell",
        "htm" | "html" => "HTML",
        "ipynb" => "Jupyter Notebook",
        "java" => "Java",
        "jl" => "Julia",
        "js" | "jsx" | "mjs" => "JavaScript",
        "json" | "jsonl" => "JSON",
        "kt" | "kts" => "Kotlin",
        "lisp" => "Lisp",
        "log" => "Log",
        "lua" => "Lua",
        "m" | "mm" => "Objective-C",
        "markdown" | "md" => "Markdown",
        "ml" | "mli" => "OCaml",
        "nim" => "Nim",
        "nix" => "Nix",
        "org" => "Org",
        "pas" => "Pascal",
        "php" => "PHP",
        "pl" | "pm" => "Perl",
        "proto" => "Protocol Buffers",
        "ps1" => "PowerShell",
        "py" | "pyi" => "Python",
        "r" => "R",
        "rb" => "Ruby",
        "rs" => "Rust",
        "rst" => "reStructuredText",
        "scala" => "Scala",
        "scm" => "Scheme",
        "sol" => "Solidity",
        "sql" => "SQL",
        "svelte" => "Svelte",
        "svg" => "SVG",
        "swift" => "Swift",
        "tcl" => "Tcl",
        "tex" => "TeX",
        "toml" => "TOML",
        "ts" | "tsx" => "TypeScript",
        "tsv" => "TSV",
        "txt" => "Text",
        "v" => "Verilog",
        "vala" => "Vala",
        "vb" => "Visual Basic",
        "vhd" => "VHDL",
        "vim" => "Vim script",
        "vue" => "Vue",
        "xml" => "XML",
        "yaml" | "yml" => "YAML",
        "zig" => "Zig",
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
