//! `cargo xtask clients`: runs the official clients of the wires against the model server, to verify the server itself.
//!
//! It installs them from their registries into the target directory and needs Python and Node, so it is not part of
//! `cargo xtask test`. The expected output of each client is in `clients/expected/`; a client for another language must
//! print the same lines.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use crate::counts::Tally;
use crate::error::Error;
use crate::process;

const PACKAGE: &str = "setpoint-model-server";
const FOLDER: &str = "crates/model_server/clients";
/// The base URLs, passed to the programs as the server prints them.
const BASES: &str = "MODEL_SERVER_BASES";
/// Number of lines that the server prints before it serves.
const BASES_COUNT: usize = 5;
const PYTHON_PACKAGES: &[&str] = &["openai", "anthropic", "google-genai", "ollama"];
const NODE_PACKAGES: &[&str] = &["openai"];

/// Programs that must be installed, with arguments that prove it.
const NEEDS: &[(&str, &[&str], &str)] = &[
    ("python3", &["-m", "venv", "--help"], "python3 with its module venv"),
    ("node", &["--version"], "node"),
    ("npm", &["--version"], "npm, which comes with node"),
];

/// A client program with its expected lines.
struct Client {
    name: &'static str,
    program: &'static str,
    expected: &'static str,
}

const CLIENTS: &[Client] = &[
    Client { name: "openai for Python", program: "openai_client.py", expected: "openai.txt" },
    Client { name: "openai for Node", program: "openai_client.mjs", expected: "openai.txt" },
    Client { name: "anthropic for Python", program: "anthropic_client.py", expected: "anthropic.txt" },
    Client { name: "google-genai for Python", program: "gemini_client.py", expected: "gemini.txt" },
    Client { name: "ollama for Python", program: "ollama_client.py", expected: "ollama.txt" },
];

/// Installs the clients, runs them against the server and counts the matching lines.
pub(crate) fn run(root: &Path) -> Result<ExitCode, Error> {
    let missing: Vec<_> =
        NEEDS.iter().filter(|(program, arguments, _)| !process::answers(program, arguments)).collect();
    for (_, _, what) in &missing {
        println!("missing: {what}");
    }
    if !missing.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let place = Place::of(root)?;
    install(&place)?;
    process::cargo_output(&["build", "--quiet", "--package", PACKAGE], root)?;
    let server = Server::start(&place)?;
    let mut sum = Tally::default();
    for client in CLIENTS {
        let got = place.run(client, &server.bases)?;
        let expected = read(&place.sources.join("expected").join(client.expected))?;
        let (tally, differences) = compare(&expected, &got);
        print!("{}: {} passed, {} failed\n{differences}", client.name, tally.passed, tally.failed);
        sum.add(tally);
    }
    println!("{} passed, {} failed", sum.passed, sum.failed);
    Ok(if sum.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The paths that a run uses.
struct Place {
    /// The clients' programs.
    sources: PathBuf,
    /// The folder with the programs that cargo built, this one included.
    built: PathBuf,
    venv: PathBuf,
    node: PathBuf,
}

impl Place {
    fn of(root: &Path) -> Result<Self, Error> {
        let this = std::env::current_exe()
            .map_err(|source| Error::Read { path: PathBuf::from("this program"), source })?;
        let built = this.parent().unwrap_or(root).to_owned();
        let installed = built.parent().unwrap_or(root).join("clients");
        Ok(Self {
            sources: root.join(FOLDER),
            built,
            venv: installed.join("venv"),
            node: installed.join("node"),
        })
    }

    fn python(&self) -> PathBuf {
        self.venv.join("bin").join("python")
    }

    /// Returns what a client prints.
    fn run(&self, client: &Client, bases: &str) -> Result<String, Error> {
        let mut command = if client.program.ends_with(".py") {
            let mut command = Command::new(self.python());
            // `-B`: writes nothing beside the sources.
            command.arg("-B").arg(self.sources.join(client.program));
            command
        } else {
            // Node looks for a module beside the program that names it.
            let program = self.node.join(client.program);
            write(&program, &read(&self.sources.join(client.program))?)?;
            let mut command = Command::new("node");
            command.arg(program);
            command
        };
        command.env(BASES, bases).env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        process::captured(command)
    }
}

fn install(place: &Place) -> Result<(), Error> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&place.venv);
    process::captured(venv)?;
    let mut pip = Command::new(place.python());
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--disable-pip-version-check"]);
    process::captured(with_all(pip, PYTHON_PACKAGES))?;
    fs::create_dir_all(&place.node).map_err(|source| Error::Write { path: place.node.clone(), source })?;
    let manifest = place.node.join("package.json");
    write(&manifest, "{\n  \"private\": true\n}\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund"]).current_dir(&place.node);
    process::captured(with_all(npm, NODE_PACKAGES))?;
    let mut list = Command::new(place.python());
    list.args(["-m", "pip", "freeze"]);
    let installed = process::captured(list)?;
    for line in installed.lines().filter(|line| PYTHON_PACKAGES.iter().any(|name| is_of(line, name))) {
        println!("installed for Python: {line}");
    }
    let manifest = read(&manifest)?;
    for line in manifest.lines().filter(|line| NODE_PACKAGES.iter().any(|name| line.contains(name))) {
        println!("installed for Node: {}", line.trim());
    }
    Ok(())
}

fn with_all(mut command: Command, packages: &[&str]) -> Command {
    command.args(packages);
    command
}

fn is_of(line: &str, package: &str) -> bool {
    line.split_once("==").is_some_and(|(name, _)| name == package)
}

/// The model server, which ends when this value is dropped.
struct Server {
    child: Child,
    bases: String,
}

impl Server {
    fn start(place: &Place) -> Result<Self, Error> {
        let mut command = Command::new(place.built.join(PACKAGE));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let text = process::line(&command);
        let failed = |source| Error::Start { command: text.clone(), source };
        let mut child = command.spawn().map_err(failed)?;
        let stdout = child.stdout.take();
        let mut server = Self { child, bases: String::new() };
        let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).take(BASES_COUNT);
        for line in lines {
            server.bases.push_str(&line.map_err(failed)?);
            server.bases.push('\n');
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended by itself cannot be killed, and need not be.
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Compares a client's lines with the expected ones: returns how many agree, and those that differ.
fn compare(expected: &str, got: &str) -> (Tally, String) {
    let mut tally = Tally::default();
    let mut differences = String::new();
    let (mut expected, mut got) = (expected.lines(), got.lines());
    loop {
        match (expected.next(), got.next()) {
            (None, None) => return (tally, differences),
            (Some(wanted), Some(line)) if wanted == line => tally.passed += 1,
            (wanted, line) => {
                tally.failed += 1;
                let text = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
                differences.push_str(&format!("expected {}\n     got {}\n", text(wanted), text(line)));
            }
        }
    }
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_line_that_differs_is_shown_and_counted() {
        let (tally, differences) = compare("a: 1\nb: 2\nc: 3\nd: 4\n", "a: 1\nb: 9\nc: 3\n");
        assert_eq!(tally, Tally { passed: 2, failed: 2 });
        expect![[r#"
              expected b: 2
                   got b: 9
              expected d: 4
                   got nothing
        "#]]
        .assert_eq(&differences);
        assert_eq!(compare("", "more").0, Tally::ONE_FAILED);
    }

    #[test]
    fn the_installed_versions_are_those_of_the_packages() {
        assert!(is_of("openai==3.1.0", "openai") && !is_of("openai-x==1", "openai"));
    }

    #[test]
    fn every_client_has_its_expected_lines() {
        for client in CLIENTS {
            let folder = crate::tree::root().join(FOLDER);
            assert!(folder.join(client.program).is_file(), "{}", client.program);
            let expected = read(&folder.join("expected").join(client.expected)).unwrap();
            assert!(expected.lines().all(|line| line.contains(": ")) && !expected.is_empty());
        }
    }
}
