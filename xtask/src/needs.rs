//! The programs that the checks need, and how to install them.

use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::process;

/// A program that a check runs.
struct Need {
    program: &'static str,
    /// The Debian packages that contain it, separated by blanks.
    packages: &'static str,
    why: &'static str,
}

const NEEDS: &[Need] = &[
    Need { program: "cc", packages: "gcc libc6-dev", why: "compiles the SQLite that is built in, and links" },
    Need { program: "git", packages: "git", why: "lists the tracked files" },
    Need {
        program: "chromium",
        packages: "chromium fonts-dejavu-core",
        why: "opens pages as a reader does, with text that can be measured",
    },
    Need { program: "rg", packages: "ripgrep", why: "searches as the tools' `rg` does" },
    Need { program: "python3", packages: "python3", why: "runs and checks the trials" },
    Need { program: "script", packages: "bsdutils", why: "gives the trials a terminal" },
];

/// Parts of the Rust toolchain: the subcommand of cargo and its component.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// The machine that programs are installed on.
pub(crate) trait Machine {
    /// Returns whether a program is in `PATH`.
    fn has(&self, program: &str) -> bool;
    /// Returns whether cargo has a subcommand.
    fn has_cargo(&self, subcommand: &str) -> bool;
    fn is_root(&self) -> bool;
    /// Runs a command line with visible output; returns whether it succeeded.
    fn run(&mut self, command: &str) -> Result<bool, Error>;
}

/// Installs what is missing, if possible. Returns what a person must do, one line each; nothing if everything is
/// installed.
pub(crate) fn provide(machine: &mut impl Machine) -> Result<Vec<String>, Error> {
    let mut undone = programs(machine)?;
    undone.extend(components(machine)?);
    Ok(undone)
}

fn programs(machine: &mut impl Machine) -> Result<Vec<String>, Error> {
    let install = format!("apt-get install -y --no-install-recommends {}", packages(machine));
    if missing(machine).next().is_none() {
        return Ok(Vec::new());
    }
    if machine.is_root() && machine.has("apt-get") && machine.run("apt-get update")? {
        machine.run(&install)?;
    }
    let lines =
        missing(machine).map(|need| format!("`{}` is missing ({}): {install}", need.program, need.why));
    Ok(lines.collect())
}

fn missing(machine: &impl Machine) -> impl Iterator<Item = &'static Need> {
    NEEDS.iter().filter(|need| !machine.has(need.program))
}

fn packages(machine: &impl Machine) -> String {
    missing(machine).map(|need| need.packages).collect::<Vec<_>>().join(" ")
}

fn components(machine: &mut impl Machine) -> Result<Vec<String>, Error> {
    let missing = |machine: &dyn Fn(&str) -> bool| -> Vec<&str> {
        COMPONENTS
            .iter()
            .filter(|(subcommand, _)| !machine(subcommand))
            .map(|(_, component)| *component)
            .collect()
    };
    let wanted = missing(&|subcommand| machine.has_cargo(subcommand));
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let install = format!("rustup component add {}", wanted.join(" "));
    if machine.has("rustup") {
        machine.run(&install)?;
    }
    let left = missing(&|subcommand| machine.has_cargo(subcommand));
    Ok(left.into_iter().map(|component| format!("`{component}` is missing: {install}")).collect())
}

/// The machine that this program runs on.
pub(crate) struct ThisMachine;

impl Machine for ThisMachine {
    fn has(&self, program: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    }

    fn has_cargo(&self, subcommand: &str) -> bool {
        process::answers(process::cargo(), &[subcommand, "--version"])
    }

    fn is_root(&self) -> bool {
        process::output("id", &["-u"], Path::new(".")).is_ok_and(|id| id.trim() == "0")
    }

    fn run(&mut self, line: &str) -> Result<bool, Error> {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        Ok(process::run_visibly(command)?.success)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// A machine on which a command installs what it names, unless nothing can be installed.
    struct Toy {
        programs: Vec<&'static str>,
        is_root: bool,
        is_offline: bool,
        log: String,
    }

    impl Machine for Toy {
        fn has(&self, program: &str) -> bool {
            self.programs.contains(&program)
        }

        fn has_cargo(&self, subcommand: &str) -> bool {
            self.programs.contains(&subcommand)
        }

        fn is_root(&self) -> bool {
            self.is_root
        }

        fn run(&mut self, command: &str) -> Result<bool, Error> {
            self.log.push_str(&format!("ran {command}\n"));
            if !self.is_offline {
                let brings = [
                    (" gcc", "cc"),
                    (" git", "git"),
                    (" chromium", "chromium"),
                    (" ripgrep", "rg"),
                    (" python3", "python3"),
                    (" bsdutils", "script"),
                    (" rustfmt", "fmt"),
                    (" clippy", "clippy"),
                ];
                self.programs.extend(
                    brings.iter().filter(|(name, _)| command.contains(name)).map(|(_, brought)| brought),
                );
            }
            Ok(!self.is_offline)
        }
    }

    fn check(programs: &[&'static str], is_root: bool, is_offline: bool, expected: &Expect) {
        let mut machine = Toy { programs: programs.to_vec(), is_root, is_offline, log: String::new() };
        let undone = provide(&mut machine).unwrap();
        let lines = undone.iter().map(|line| format!("to do: {line}\n"));
        expected.assert_eq(&(machine.log + &lines.collect::<String>()));
    }

    #[test]
    fn nothing_is_run_if_nothing_is_missing() {
        check(
            &["cc", "git", "chromium", "rg", "python3", "script", "fmt", "clippy"],
            true,
            false,
            &expect![""],
        );
    }

    #[test]
    fn root_installs_only_what_is_missing() {
        check(
            &["cc", "chromium", "rg", "python3", "script", "apt-get", "rustup", "fmt"],
            true,
            false,
            &expect![[r#"
                ran apt-get update
                ran apt-get install -y --no-install-recommends git
                ran rustup component add clippy
            "#]],
        );
    }

    #[test]
    fn other_users_get_the_command_to_run() {
        check(
            &["rg", "python3", "script", "apt-get", "fmt", "clippy"],
            false,
            false,
            &expect![[r#"
                to do: `cc` is missing (compiles the SQLite that is built in, and links): apt-get install -y --no-install-recommends gcc libc6-dev git chromium fonts-dejavu-core
                to do: `git` is missing (lists the tracked files): apt-get install -y --no-install-recommends gcc libc6-dev git chromium fonts-dejavu-core
                to do: `chromium` is missing (opens pages as a reader does, with text that can be measured): apt-get install -y --no-install-recommends gcc libc6-dev git chromium fonts-dejavu-core
            "#]],
        );
    }

    #[test]
    fn a_failed_installation_is_not_treated_as_done() {
        check(
            &["cc", "chromium", "rg", "python3", "script", "apt-get", "rustup"],
            true,
            true,
            &expect![[r#"
                ran apt-get update
                ran rustup component add rustfmt clippy
                to do: `git` is missing (lists the tracked files): apt-get install -y --no-install-recommends git
                to do: `rustfmt` is missing: rustup component add rustfmt clippy
                to do: `clippy` is missing: rustup component add rustfmt clippy
            "#]],
        );
    }
}
