//! What reads as read-only is given to a real bash: it must not run the one program that leaves a trace, nor write a file.
//!
//! The texts are made from a fixed seed, from quotes, substitutions, here-documents and other ways to hide a command in
//! what looks like text; the trace-leaving program is called `Z` and stands in all of them.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use setpoint_tools::command_line::{Surroundings, read};

/// How many texts are made; about one in ten reads as read-only.
const TEXTS: usize = 2000;

#[test]
fn bash_runs_nothing_that_was_not_seen() -> io::Result<()> {
    let room = Room::new()?;
    assert!(room.leaves_a_trace("Z")?, "the trace-leaving program does not work");
    assert!(room.leaves_a_trace("echo x > file")?, "a written file goes unnoticed");
    let mut chance = Chance(0x5EED_CAFE_F00D_0001);
    let mut tried = 0;
    let mut missed = Vec::new();
    for _ in 0..TEXTS {
        let text = text(&mut chance);
        if !read(&text, &room.surroundings()).verdict.is_read_only() {
            continue;
        }
        tried += 1;
        if room.leaves_a_trace(&text)? {
            missed.push(text);
        }
    }
    assert!(missed.is_empty(), "read as read-only, yet something happened:\n{missed:#?}");
    assert!(tried > TEXTS / 20, "only {tried} of {TEXTS} texts read as read-only: the test has no teeth");
    Ok(())
}

/// A directory to run in, and one with the only programs that can be found.
struct Room {
    directory: tempfile::TempDir,
    bash: PathBuf,
}

impl Room {
    fn new() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        for name in ["work", "bin"] {
            fs::create_dir(directory.path().join(name))?;
        }
        let program = directory.path().join("bin/Z");
        fs::write(&program, "#!/bin/sh\n: > \"$TRACE\"\n")?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        for name in ["cat", "ls"] {
            symlink(system_program(name)?, directory.path().join("bin").join(name))?;
        }
        Ok(Self { directory, bash: system_program("bash")? })
    }

    fn surroundings(&self) -> Surroundings {
        let work = self.directory.path().join("work");
        Surroundings { cwd: work.clone(), home: work, vars: BTreeMap::new() }
    }

    /// Runs `text`, and says whether `Z` ran or a file appeared. What runs away is stopped by a limit on its work.
    fn leaves_a_trace(&self, text: &str) -> io::Result<bool> {
        let work = self.directory.path().join("work");
        let trace = self.directory.path().join("trace");
        let limited = "ulimit -t 2; exec \"$BASH\" --norc --noprofile -c \"$0\"";
        Command::new(&self.bash)
            .args(["--norc", "--noprofile", "-c", limited, text])
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("HOME", &work)
            .env("TRACE", &trace)
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        let ran = trace.exists();
        if ran {
            fs::remove_file(&trace)?;
        }
        let mut wrote = false;
        for entry in fs::read_dir(&work)? {
            fs::remove_file(entry?.path())?;
            wrote = true;
        }
        Ok(ran || wrote)
    }
}

fn system_program(name: &str) -> io::Result<PathBuf> {
    let directories = ["/bin", "/usr/bin", "/usr/local/bin"];
    let found =
        directories.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists());
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{name} is needed for this test")))
}

/// Pieces that decide what is text and what is a command.
const PIECES: &[&str] = &[
    "Z",
    "Z",
    "Z",
    " Z ",
    " ",
    "'",
    "\"",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "`",
    ";",
    "&",
    "|",
    "<",
    ">",
    "\n",
    "#",
    " #",
    "$(",
    "$((",
    "))",
    "${x:-",
    "${x",
    "<<EOF\n",
    "\nEOF\n",
    "EOF\n",
    "<<'EOF'\n",
    "<<-EOF\n",
    "\t",
    "$'",
    "\\'",
    "\\\"",
    "[[ ",
    " ]]",
    "((",
    "case x in ",
    "esac",
    ";;",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "=",
    "a=",
    "a[",
    "]",
    "!",
    "~",
    "*",
    "=~",
    "time ",
    "-",
    "+=",
    "echo ",
    "cat ",
    "ls",
    "a",
    "1",
    "2",
    "{a,b}",
    "&&",
    "||",
    "\\\n",
    "<(",
    ">(",
    "$$",
    "$#",
    "${#",
    "\\\\",
    "''",
    "\"\"",
    "<<<",
    "<<",
    "&>",
    ">&",
    "2>&1",
    "in ",
    "x)",
    "else ",
    "{ ",
    "; }",
    "%",
    "@(",
    "^",
    "/",
    ",",
    "[",
    "$a",
    "$1",
    "\"$@\"",
    "$[",
    "[ ",
    " ]",
    "EOF",
    "# Z\n",
    "\n#Z\n",
];

/// What joins two commands.
const JOINTS: &[&str] = &[";", "\n", "&&", "|"];

/// What is put around them.
const FRAMES: &[(&str, &str)] = &[
    ("echo ", ""),
    ("echo \"", "\""),
    ("echo '", "'"),
    ("echo $'", "'"),
    ("echo $(", ")"),
    ("echo \"$(", ")\""),
    ("echo `", "`"),
    ("echo \"`", "`\""),
    ("echo ${a:-", "}"),
    ("echo \"${a:-", "}\""),
    ("cat <<EOF\n", "\nEOF\n"),
    ("cat <<'EOF'\n", "\nEOF\n"),
    ("cat <<-EOF\n", "\nEOF\n"),
    ("echo $(cat <<EOF\n", "\nEOF\n)"),
    ("echo \"$(cat <<'EOF'\n", "\nEOF\n)\""),
    ("{ echo ", "; }"),
    ("(echo ", ")"),
    ("( (echo ", ") )"),
    ("for i in ", "; do echo $i; done"),
    ("for i in a; do echo ", "; done"),
    ("case a in ", " ) echo a;; esac"),
    ("case a in a) echo ", "; esac"),
    ("[[ ", " ]]"),
    ("[[ a == ", " ]]"),
    ("[[ a =~ ", " ]]"),
    ("(( ", " ))"),
    ("echo $(( ", " ))"),
    ("x=( ", " )"),
    ("x=", ""),
    ("echo # ", "\necho b"),
    ("cat <(echo ", ")"),
    ("cat <<< ", ""),
    ("if [ a = ", " ]; then echo x; fi"),
    ("echo a | cat ", ""),
    ("! echo ", ""),
    ("echo a \\\n ", ""),
    ("[ ", " ]"),
    ("echo {", ",a}"),
];

fn text(chance: &mut Chance) -> String {
    loop {
        let (open, close) = *chance.pick(FRAMES);
        let mut text = format!("{open}{}{close}", inside(chance, 0));
        if chance.below(10) < 3 {
            text.push_str(chance.pick::<&str>(JOINTS));
            text.push_str(&pieces(chance));
        }
        if text.contains('Z') {
            return text;
        }
    }
}

fn inside(chance: &mut Chance, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..=chance.below(3) {
        if depth < 3 && chance.below(4) == 0 {
            let (open, close) = *chance.pick(FRAMES);
            text.push_str(&format!("{open}{}{close}", inside(chance, depth + 1)));
        } else {
            text.push_str(&pieces(chance));
        }
    }
    text
}

fn pieces(chance: &mut Chance) -> String {
    (0..=chance.below(3)).map(|_| *chance.pick(PIECES)).collect()
}

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
