//! Export and import of memory.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use setpoint_memory::view::*;
use setpoint_protocol::message::Megram;

use super::{assert_safe, out, remembering, run};
use crate::support::memory::*;

fn megram(n: u32) -> Megram {
    record(n, &format!("lesson {n}\u{9b}")).megram
}

/// Returns a memory with three records on two pages, followed by an empty page.
fn paged() -> FakeMemory {
    let pages = vec![(vec![megram(1), megram(2)], Some(20)), (vec![megram(3)], Some(30)), (vec![], None)];
    FakeMemory { pages, ..FakeMemory::default() }
}

#[tokio::test]
async fn an_export_is_a_line_a_record_in_pages() {
    for line in ["memory export", "memory export --json"] {
        let (came, asked) = run(remembering(paged()), line).await;
        let ids: Vec<Value> =
            came.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
        assert_eq!(ids, [json!(id(1)), json!(id(2)), json!(id(3))], "{line}");
        assert_eq!((came.code, came.err.as_str()), (0, ""), "{line}");
        assert_eq!(asked, ["export 0", "export 20", "export 30", "close"], "{line}");
        // An export has the record itself, without what memory has computed from it since.
        let first: Megram = serde_json::from_str(came.out.lines().next().unwrap()).unwrap();
        assert_eq!(first, megram(1));
    }
    let mut world = remembering(paged());
    world.is_terminal = true;
    let (came, _) = run(world, "memory export").await;
    assert_safe(&came.out);
    assert!(came.out.contains("lesson 1\\u009b"), "{}", came.out);
}

async fn export_to(memory: FakeMemory, path: &Path, options: &str) -> super::Came {
    run(remembering(memory), &format!("memory export -o '{}' {options}", path.display())).await.0
}

#[tokio::test]
async fn an_export_to_a_file_is_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    let came = export_to(paged(), &path, "").await;
    assert_eq!((came.code, came.out.as_str()), (0, ""));
    assert_eq!(came.err, format!("wrote 3 records to {}\n", path.display()));
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(written.lines().count(), 3);
    assert_eq!(export_to(paged(), &path, "--quiet").await.err, "");
    let value = export_to(paged(), &path, "--json").await.json();
    assert_eq!(value, json!({ "file": path.display().to_string(), "records": 3 }));

    // An export that fails leaves the file as it was, and no other file beside it.
    let broken = FakeMemory { broken: "export 20", ..paged() };
    let came = export_to(broken, &path, "").await;
    assert_eq!(came.code, 1, "{}", came.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    let endless = FakeMemory { pages: vec![(vec![megram(1)], Some(0))], ..FakeMemory::default() };
    let came = export_to(endless, &path, "").await;
    assert_eq!(
        (came.code, came.err.as_str()),
        (
            1,
            "error: failed to read memory: position 0 is followed by 0\nhint: `setpoint doctor` checks the data \
             directory\n"
        )
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let came = export_to(paged(), &folder.path().join("none/memory.jsonl"), "").await;
    assert_eq!(came.code, 2);
    assert!(came.err.contains("hint: name a file in a folder that exists"), "{}", came.err);
}

#[tokio::test]
async fn rules_are_written_as_folders() {
    let full = || FakeMemory { folders: vec!["/s/a".into(), "/s/b\nc".into()], ..FakeMemory::default() };
    assert_eq!(out(full(), "memory export --skills /s").await, "/s/a\n/s/b c\n");
    let (came, asked) = run(remembering(full()), "memory export --skills '/s p' --json").await;
    assert_eq!(asked, ["skills /s p", "close"]);
    assert_eq!(came.json(), json!(["/s/a", "/s/b\nc"]));
}

fn importing(taken: u64, known: u64, refused: u64) -> FakeMemory {
    let problem = |line| ImportProblem { line, reason: format!("no sigma \u{1b}[2Jin {line}") };
    let imported = ImportReport { taken, known, refused: (1..=refused).map(problem).collect() };
    FakeMemory { imported, ..FakeMemory::default() }
}

#[tokio::test]
async fn imported_records_are_counted() {
    assert_eq!(out(importing(12, 0, 0), "memory import -").await, "took in 12 records\n");
    assert_eq!(
        out(importing(1, 1_200, 0), "memory import -").await,
        "took in 1 record; 1,200 known already\n"
    );
    assert_eq!(out(importing(0, 3, 0), "memory import -").await, "took in 0 records; 3 known already\n");
    // The export of an empty memory can be imported, too.
    assert_eq!(out(importing(0, 0, 0), "memory import -").await, "took in 0 records\n");
    let value = run(remembering(importing(12, 1, 0)), "memory import - --json").await.0.json();
    assert_eq!(value, json!({ "taken": 12, "known": 1, "refused": [] }));
}

#[tokio::test]
async fn an_import_comes_from_a_file_or_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    fs::write(&path, "{}\n").unwrap();
    let (_, asked) =
        run(remembering(importing(1, 0, 0)), &format!("memory import '{}' --lenient", path.display())).await;
    assert_eq!(asked[0], "import \"{}\\n\" true");
    let mut world = remembering(importing(1, 0, 0));
    world.stdin = b"[]\n".to_vec();
    let (_, asked) = run(world, "memory import -").await;
    assert_eq!(asked[0], "import \"[]\\n\" false");
    fs::write(&path, b"{}\n\xff").unwrap();
    let (came, asked) =
        run(remembering(FakeMemory::default()), &format!("memory import '{}'", path.display())).await;
    assert_eq!((came.code, asked.len()), (2, 0));
    assert!(came.err.contains("is not UTF-8: byte 3 is not part of a character"), "{}", came.err);
    let (came, asked) =
        run(remembering(FakeMemory::default()), &format!("memory import '{}'", folder.path().display()))
            .await;
    assert_eq!((came.code, asked.len()), (2, 0));
}

#[tokio::test]
async fn a_refused_line_stops_the_whole_import() {
    let (came, _) = run(remembering(importing(0, 0, 2)), "memory import -").await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert_eq!(
        came.err,
        "warning: line 1: no sigma ␛[2Jin 1\n\
         warning: line 2: no sigma ␛[2Jin 2\n\
         error: nothing was imported: 2 lines cannot be used\n\
         hint: correct them, or import the others with `--lenient`\n"
    );
    // Known lines do not change that, because not all lines were read.
    assert_eq!(run(remembering(importing(0, 5, 1)), "memory import -").await.0.code, 2);
    let (came, _) = run(remembering(importing(0, 0, 2)), "memory import - --json").await;
    let value = came.json();
    assert_eq!((came.code, &value["refused"][1]["line"]), (2, &json!(2)));
    assert_eq!(value["refused"][1]["reason"], "no sigma \u{1b}[2Jin 2");
}

#[tokio::test]
async fn a_lenient_import_takes_the_others() {
    let (came, _) = run(remembering(importing(3, 0, 1)), "memory import - --lenient").await;
    assert_eq!((came.code, came.out.as_str()), (0, "took in 3 records\n"));
    assert_eq!(came.err, "warning: line 1: no sigma ␛[2Jin 1\n");
    // The second time, the other lines are known.
    let (came, _) = run(remembering(importing(0, 3, 1)), "memory import - --lenient").await;
    assert_eq!((came.code, came.out.as_str()), (0, "took in 0 records; 3 known already\n"));
    let (came, _) = run(remembering(importing(0, 0, 1)), "memory import - --lenient").await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert!(came.err.ends_with("error: nothing was imported: 1 line cannot be used\n"), "{}", came.err);
}

#[tokio::test]
async fn a_person_sees_the_first_refused_lines_and_a_program_all() {
    let (came, _) = run(remembering(importing(1, 0, 25)), "memory import - --lenient").await;
    assert_eq!(came.err.lines().count(), 21);
    assert!(
        came.err.ends_with("warning: 5 more lines cannot be used; `--json` lists all of them\n"),
        "{}",
        came.err
    );
    let (came, _) = run(remembering(importing(1, 0, 25)), "memory import - --lenient --json").await;
    assert_eq!(came.json()["refused"].as_array().unwrap().len(), 25);
}
