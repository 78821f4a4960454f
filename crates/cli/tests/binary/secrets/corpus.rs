//! 60 formats of keys, each in 8 encodings, through 10 outputs; and the same without knowing them, where they are found.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use setpoint_app::program::LogFile;
use setpoint_cli::io::Out;
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire, canned};
use setpoint_scrub::Scrub;

use crate::models::command;
use crate::support::thinker::{site, think};
use crate::support::tree::tree;
use crate::support::{Came, Home, say};

use super::{ENCODINGS, Search, encoded};

/// Keys that are read in one step: a plan has at most 32.
const KEYS_PER_STEP: usize = 2;
/// Places in an output that must be found where the keys are unknown; some outputs cut long texts.
const FOUND_MIN: usize = 400;

const ALNUM: &str = "Zq81LmXv0TtR5bNcYw7HdGf2KpAeUi3oJsQ9xVnB4gWkMz6hCyDrSlEaPtFjOuIb";

/// Returns the first characters of a repeated alphabet, from a place on.
fn some(alphabet: &str, from: usize, count: usize) -> String {
    alphabet.chars().cycle().skip(from * 7 % 61).take(count).collect()
}

/// Returns keys in 60 formats, without a random part that a run would choose.
fn formats() -> Vec<String> {
    let alnum = |from: usize, count: usize| some(ALNUM, from, count);
    let upper = |from: usize, count: usize| alnum(from, count).to_uppercase();
    let hex = |from: usize, count: usize| some("4f9c02be71d38a65e0", from, count);
    let b64 = |from: usize, count: usize| some(&format!("{ALNUM}+/"), from, count);
    let prefixes = [
        ("sk-", 48),
        ("sk-proj-", 64),
        ("sk-ant-api03-", 80),
        ("AIza", 35),
        ("gsk_", 52),
        ("xai-", 60),
        ("hf_", 34),
        ("r8_", 37),
        ("pplx-", 48),
        ("ghp_", 36),
        ("gho_", 36),
        ("ghs_", 36),
        ("github_pat_", 59),
        ("glpat-", 20),
        ("npm_", 36),
        ("pypi-AgEIcHlwaS5vcmc", 60),
        ("dop_v1_", 64),
        ("xoxb-17653672481-", 24),
        ("xapp-1-", 40),
        ("SG.", 22),
        ("sk_live_", 24),
        ("rk_live_", 24),
        ("whsec_", 32),
        ("shpat_", 32),
        ("key-", 32),
        ("lin_api_", 40),
        ("figd_", 40),
        ("dapi", 32),
        ("ATATT3xFf", 50),
        ("hvs.", 90),
    ];
    let mut keys: Vec<String> = prefixes
        .iter()
        .enumerate()
        .map(|(n, (prefix, count))| format!("{prefix}{}", alnum(n, *count)))
        .collect();
    let json_web = format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", b64(1, 60).replace(['+', '/'], "_"), alnum(2, 43));
    let pem_lines: Vec<String> = (0..6).map(|n| b64(n + 3, 64)).collect();
    let uuid = |from: usize| {
        let digits = hex(from, 32);
        [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits.get(range).unwrap().to_owned()).join("-")
    };
    keys.extend([
        format!("AKIA{}", upper(31, 16)),
        format!("ASIA{}", upper(32, 16)),
        b64(33, 40),
        json_web,
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", pem_lines.join("\n")),
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
            pem_lines.concat()
        ),
        uuid(37),
        uuid(38).to_uppercase(),
        hex(39, 32),
        hex(40, 40),
        hex(41, 64).to_uppercase(),
        format!("{}==", b64(42, 30)),
        format!("{}=", b64(43, 31)),
        format!("{}+/+/==", b64(44, 20)),
        "100%25-of-%2F-a-%-key".to_owned(),
        "with \"quotes\" and 'more' of them".to_owned(),
        r"back\slash\\double\n-u0041".to_owned(),
        "<a href=\"&amp;\">& in HTML</a>".to_owned(),
        "pässwörd-mit-Ümlauten-ß".to_owned(),
        "пароль-из-кириллицы-2026".to_owned(),
        "密码-パスワード-비밀번호".to_owned(),
        "emoji-\u{1f511}-key-\u{1f5dd}\u{fe0f}-end".to_owned(),
        "a b c d e f g h i j".to_owned(),
        "tab\tand tab\tagain, key".to_owned(),
        "correct-horse-battery-staple".to_owned(),
        "31415926535897932384".to_owned(),
        // The shortest that is accepted.
        "Kx7%q+Z9".to_owned(),
        alnum(57, 512),
        b64(58, 512),
        format!("{}:{}", alnum(59, 12), alnum(60, 30)),
    ]);
    keys
}

/// A home in which a task reads every key in every encoding, and its model says it again.
struct Corpus {
    home: Home,
    keys: Vec<String>,
    /// What each step reads.
    files: Vec<String>,
    collected: Arc<Mutex<String>>,
    prompts: String,
    task: String,
}

impl Corpus {
    /// Runs the task, in a program that knows the keys or does not.
    fn new(is_known: bool) -> Self {
        let (home, keys) = (Home::new(), formats());
        let line = |key: &String| encoded(key).join("\n");
        let text = |(n, keys): (usize, &[String])| {
            format!("file {n}\n{}\n", keys.iter().map(line).collect::<Vec<_>>().join("\n"))
        };
        let files: Vec<String> = keys.chunks(KEYS_PER_STEP).enumerate().map(text).collect();
        for (n, text) in files.iter().enumerate() {
            home.file(format!("{n}.txt"), text);
        }
        let collected: Arc<Mutex<String>> = Arc::default();
        let kept = Arc::clone(&collected);
        let collector = canned(move |request| {
            kept.lock().unwrap().push_str(&request.body);
            (200, String::new())
        });
        let plan = plan(files.len());
        let said = files.clone();
        let server = Hosted::start(Arc::new(move |seen: &SeenRequest| repeat(seen, &plan, &said))).unwrap();
        let arguments = [
            "run",
            "--json",
            "--record",
            "tape.jsonl",
            "--set",
            "telemetry.content=true",
            "look around here",
        ];
        let mut run = command(&home, &server, Wire::Chat, &arguments);
        run.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.unwrap());
        let mut corpus = Corpus { home, keys, files, collected, prompts: String::new(), task: String::new() };
        if is_known {
            corpus.tell(&mut run);
        }
        let came = Came::of(&mut run);
        // Opinions prove nothing; that everything was read is seen below.
        assert_eq!((came.code, &came.json()["ended_by"]), (3, &json!("unproven")), "{}", came.err);
        corpus.task = came.json()["task_id"].as_str().unwrap().to_owned();
        corpus.prompts = server.seen().iter().map(|seen| seen.asked.told() + "\n").collect();
        corpus
    }

    /// Lets a command know the keys.
    fn tell(&self, command: &mut Command) {
        let names = (0..self.keys.len()).map(|n| format!("[secrets.s{n}]\nenv = \"HELD_{n}\"\n"));
        fs::write(self.home.config().join("setpoint.toml"), names.collect::<String>()).unwrap();
        command.envs(self.keys.iter().enumerate().map(|(n, key)| (format!("HELD_{n}"), key)));
    }

    /// Returns what the commands write about the task, in a program that knows the keys or does not.
    fn shown(&self, is_known: bool) -> BTreeMap<&'static str, String> {
        fs::write(self.home.config().join("setpoint.toml"), "").unwrap();
        let out = |arguments: &[&str]| {
            let mut command = self.home.command(arguments);
            if is_known {
                self.tell(&mut command);
            }
            let came = Came::of(&mut command);
            assert_eq!(came.code, 0, "{}", came.err);
            came.out
        };
        let read = |name: &str| fs::read_to_string(self.home.work().join(name)).unwrap();
        drop(out(&["tasks", "export", &self.task, "--output", "task.jsonl"]));
        drop(out(&["tasks", "show", &self.task, "--html", "task.html"]));
        BTreeMap::from([
            ("stdout", out(&["replay", &self.task, "--prompts"])),
            ("stdout of --json", out(&["replay", &self.task, "--json"])),
            ("export", read("task.jsonl")),
            ("page", read("task.html")),
        ])
    }

    /// Returns what the run wrote: read by a program that does not know the keys.
    fn kept(&self) -> BTreeMap<&'static str, String> {
        let tape = fs::read_to_string(self.home.work().join("tape.jsonl")).unwrap();
        let journal = self.shown(false).remove("export").unwrap();
        let collected = self.collected.lock().unwrap().clone();
        [
            ("journal", journal),
            ("recording", tape),
            ("collector", collected),
            ("prompts", self.prompts.clone()),
        ]
        .into()
    }

    /// Returns what the writers of stderr and of the log write, with these keys removed.
    fn lines(&self, keys: &Scrub) -> BTreeMap<&'static str, String> {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(LogFile::new(folder.path().join("log"), keys.clone()));
        let written = fs::File::create(folder.path().join("stderr")).unwrap();
        let mut out = Out::new(Box::new(written));
        out.without_keys(keys.clone());
        for text in &self.files {
            Arc::clone(&log).writer().write_all(text.as_bytes()).unwrap();
            // In pieces: a key may be split over two writes.
            for piece in text.as_bytes().chunks(7) {
                out.write_all(piece).unwrap();
            }
        }
        drop(out);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        [("log", read("log")), ("stderr", read("stderr"))].into()
    }

    fn scrub(&self) -> Scrub {
        let named =
            self.keys.iter().enumerate().map(|(n, key)| (format!("secrets.s{n}"), key.as_str().into()));
        Scrub::named(&named.collect::<Vec<_>>())
    }
}

/// Returns a plan that reads each of these files.
fn plan(files: usize) -> Value {
    let step = |n: usize| {
        json!({
            "intent": format!("step {n} is to call read_file {}", json!({ "path": format!("{n}.txt") })),
            "success_criteria": [{ "criterion": format!("call {n} was made"), "mode": "plausible" }],
        })
    };
    let whole = json!([{ "criterion": "all calls were made", "mode": "plausible" }]);
    json!({ "subtasks": (0..files).map(step).collect::<Vec<_>>(), "task_criteria": whole })
}

/// Answers every role, and says each file again that was read.
fn repeat(seen: &SeenRequest, plan: &Value, files: &[String]) -> Turn {
    let question = &*seen.asked.told();
    if site(seen) != Site::Execute || question::calls(question).next().is_none() {
        return think(seen, plan);
    }
    let step = question::work(question).and_then(|work| work.split(' ').nth(1)?.parse::<usize>().ok());
    let text = files.get(step.unwrap()).unwrap();
    Turn {
        bytes_at_once: Some(11),
        ..Turn::from(Answer::text(&json!({ "status": "completed", "output": text }).to_string()))
    }
}

#[test]
fn sixty_formats_in_eight_encodings_leave_by_no_output() {
    let (known, unknown) = (Corpus::new(true), Corpus::new(false));
    assert_eq!(known.keys.iter().collect::<std::collections::BTreeSet<_>>().len(), 60);
    let mut found = unknown.kept();
    found.extend(unknown.shown(false));
    found.extend(unknown.lines(&Scrub::default()));
    let mut kept = known.kept();
    // What was recorded while the keys were unknown is shown without them as soon as they are known.
    kept.extend(unknown.shown(true));
    kept.extend(known.lines(&known.scrub()));
    assert_eq!(kept.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    let search = Search::new(&known.keys);
    let places = known.keys.len() * ENCODINGS.len();
    let mut leaks = Vec::new();
    for (name, text) in &kept {
        let open = search.whole(found.get(name).unwrap()).len();
        let leaked = search.leaks(text);
        say(&format!("{name}: {} of {places} places leak; with unknown keys, {open} do", leaked.len()));
        assert!(open >= FOUND_MIN, "{name}: the corpus must reach it");
        assert!(
            text.contains("[key secrets.s") || text.contains("{secret}"),
            "{name} names what was removed"
        );
        leaks.extend(leaked.into_iter().map(|leak| format!("{name}: {leak}")));
    }
    let (formats, encodings) = (known.keys.len(), ENCODINGS.len());
    say(&format!(
        "{formats} formats x {encodings} encodings x {} outputs: {} leaks",
        kept.len(),
        leaks.len()
    ));
    assert!(leaks.is_empty(), "{leaks:#?}");
    // Nothing else that the run wrote holds one either, such as the audit log.
    for (path, bytes) in tree(&known.home.data()) {
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(search.leaks(&text).is_empty(), "{}", path.display());
    }
}
