//! The files that are shipped, and their places in each kind of package.

use super::archive::Entry;

pub(super) const PROGRAM: &str = "setpoint";

/// The files that packages hold, in memory.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) program: Vec<u8>,
    /// With their names, such as `setpoint-run.1`.
    pub(super) man_pages: Vec<(String, Vec<u8>)>,
    /// With their shells.
    pub(super) completions: Vec<(&'static str, Vec<u8>)>,
    pub(super) readme: Vec<u8>,
    pub(super) changelog: Vec<u8>,
    pub(super) apache: Vec<u8>,
    pub(super) mit: Vec<u8>,
    /// The licences of the linked crates.
    pub(super) linked: Vec<u8>,
}

impl Contents {
    /// Returns the files of an archive that can be unpacked anywhere, all in a folder `name`.
    pub(super) fn archive(&self, name: &str) -> Vec<Entry> {
        let mut entries = vec![
            Entry::program(format!("{name}/{PROGRAM}"), &self.program),
            Entry::file(format!("{name}/README.md"), &self.readme),
            Entry::file(format!("{name}/CHANGELOG.md"), &self.changelog),
            Entry::file(format!("{name}/LICENSE-APACHE"), &self.apache),
            Entry::file(format!("{name}/LICENSE-MIT"), &self.mit),
            Entry::file(format!("{name}/LICENSES-LINKED"), &self.linked),
        ];
        let pages = self.man_pages.iter();
        entries.extend(pages.map(|(page, bytes)| Entry::file(format!("{name}/man/man1/{page}"), bytes)));
        for (shell, script) in &self.completions {
            let file = completion_name(shell);
            entries.push(Entry::file(format!("{name}/completions/{file}"), script));
        }
        entries
    }

    /// Returns the files of a Debian system. Pages are not compressed as Debian's policy asks: `man` reads them as they are.
    pub(super) fn debian(&self) -> Vec<Entry> {
        let mut entries = vec![
            Entry::program(format!("usr/bin/{PROGRAM}"), &self.program),
            Entry::file(format!("usr/share/doc/{PROGRAM}/copyright"), &self.copyright()),
            Entry::file(format!("usr/share/doc/{PROGRAM}/README.md"), &self.readme),
            Entry::file(format!("usr/share/doc/{PROGRAM}/CHANGELOG.md"), &self.changelog),
        ];
        let pages = self.man_pages.iter();
        entries.extend(pages.map(|(page, bytes)| Entry::file(format!("usr/share/man/man1/{page}"), bytes)));
        for (shell, script) in &self.completions {
            let folder = match *shell {
                "bash" => "bash-completion/completions",
                "zsh" => "zsh/vendor-completions",
                _ => "fish/vendor_completions.d",
            };
            // bash looks for a file named as the program.
            let file = if *shell == "bash" { PROGRAM.to_owned() } else { completion_name(shell) };
            entries.push(Entry::file(format!("usr/share/{folder}/{file}"), script));
        }
        entries
    }

    fn copyright(&self) -> Vec<u8> {
        let ours =
            b"Setpoint is licensed under the MIT licence or the Apache License 2.0, at your option.\n\n";
        [ours, &self.mit[..], b"\n", &self.apache, b"\n", &self.linked].concat()
    }
}

fn completion_name(shell: &str) -> String {
    match shell {
        "zsh" => format!("_{PROGRAM}"),
        shell => format!("{PROGRAM}.{shell}"),
    }
}

#[cfg(test)]
pub(super) fn of_one_page() -> Contents {
    Contents {
        program: b"program".to_vec(),
        man_pages: vec![("setpoint.1".to_owned(), b"page".to_vec())],
        completions: ["bash", "zsh", "fish"].map(|shell| (shell, shell.as_bytes().to_vec())).into(),
        ..Contents::default()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn listed(entries: &[Entry]) -> String {
        entries.iter().map(|entry| format!("{:o} {}\n", entry.mode, entry.path)).collect()
    }

    #[test]
    fn an_archive_has_one_folder() {
        expect![[r#"
            755 setpoint-1/setpoint
            644 setpoint-1/README.md
            644 setpoint-1/CHANGELOG.md
            644 setpoint-1/LICENSE-APACHE
            644 setpoint-1/LICENSE-MIT
            644 setpoint-1/LICENSES-LINKED
            644 setpoint-1/man/man1/setpoint.1
            644 setpoint-1/completions/setpoint.bash
            644 setpoint-1/completions/_setpoint
            644 setpoint-1/completions/setpoint.fish
        "#]]
        .assert_eq(&listed(&of_one_page().archive("setpoint-1")));
    }

    #[test]
    fn debian_finds_pages_and_completions_where_it_looks() {
        expect![[r#"
            755 usr/bin/setpoint
            644 usr/share/doc/setpoint/copyright
            644 usr/share/doc/setpoint/README.md
            644 usr/share/doc/setpoint/CHANGELOG.md
            644 usr/share/man/man1/setpoint.1
            644 usr/share/bash-completion/completions/setpoint
            644 usr/share/zsh/vendor-completions/_setpoint
            644 usr/share/fish/vendor_completions.d/setpoint.fish
        "#]]
        .assert_eq(&listed(&of_one_page().debian()));
    }
}
