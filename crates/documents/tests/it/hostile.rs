//! Files that somebody prepared, and a process that misbehaves.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use setpoint_documents::{FILE_BYTES_MAX, Limits, read};

use crate::support::{XLSX, all, lines, pages, pdf_of, python, reader, refusal, refusal_with};

/// Numbers that look random and are the same in every run.
fn noise(length: usize, mut state: u64) -> Vec<u8> {
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

#[tokio::test]
async fn an_archive_bomb_is_refused() {
    let bomb = python(&format!("{XLSX}\nbook([('s', '')], ['A' * 200_000_000])"));
    assert!(bomb.len() < 1_000_000, "{}", bomb.len());
    let limits = Limits { data_bytes: 128 * 1024 * 1024, ..Limits::default() };
    let why = refusal_with(&bomb, limits).await;
    assert!(why.starts_with("reading it needs more than 128 MiB of memory"), "{why}");
}

#[tokio::test]
async fn hostile_xml_is_refused() {
    let sheet = |xml: &str| python(&format!("{XLSX}\nbook([('s', {xml})])"));
    for (xml, said) in [
        // Names that stand for more and more text.
        (
            r#"'<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><row><c t="str"><v>&b;</v></c></row>'"#,
            "an entity",
        ),
        (r#"'<row><c></row></c>'"#, "damaged"),
        (r#"'<row><c r="A1'"#, "damaged"),
        (r#"'<row r="1048577"><c><v>1</v></c></row>'"#, "beyond row or column"),
        (r#"'<row><c r="XFE1"><v>1</v></c></row>'"#, "beyond row or column"),
        (r#"'<row><c t="s"><v>4</v></c></row>'"#, "names a text that is not there"),
    ] {
        let why = refusal(&sheet(xml)).await;
        assert!(why.contains(said), "{xml}: {why}");
    }
    let deep = sheet("'<a>' * 500_000");
    assert!(refusal(&deep).await.contains("; "));
    // Numbers that overflow and names that mean nothing leave the cell where it comes.
    let odd =
        sheet(r#"'<row r="99999999999"><c r="ZZZZZZZ9"><v>1</v></c><c r="" s="-1"><v>2</v></c></row>'"#);
    assert_eq!(crate::support::workbook(&odd, &all()).await.given[0].cells, ["1", "2"]);
    // Many attributes of one name cost no more than others.
    let many = sheet(r#"'<row ' + 'a="1" ' * 300_000 + 'r="3"><c><v>1</v></c></row>'"#);
    assert_eq!(crate::support::workbook(&many, &all()).await.given[0].number, 3);
}

#[tokio::test]
async fn a_sheet_without_end_is_stopped() {
    let file = python(&format!("{XLSX}\nbook([('s', '<row><c><v></v></c></row>' * 30_000_000)])"));
    assert!(file.len() < 2_000_000, "{}", file.len());
    let why = refusal_with(&file, Limits { cpu_s: 1, ..Limits::default() }).await;
    assert!(why.starts_with("reading it takes more than 1000 ms"), "{why}");
}

#[tokio::test]
async fn a_truncated_file_is_refused() {
    let sheet = python(&format!(
        "{XLSX}\nbook([('s', ''.join(f'<row r=\"{{n}}\"><c r=\"A{{n}}\"><v>{{n}}</v></c></row>' for n in range(1, 2000)))])"
    ));
    for share in [2, 4, 10] {
        let why = refusal(&sheet[..sheet.len() * share / 11]).await;
        assert!(why.starts_with("it is cut off"), "{why}");
    }
    let pdf = pdf_of(&pages(&[lines(&["text"])]), "");
    let why = refusal(&pdf[..40]).await;
    assert!(why.starts_with("it is damaged or cut off ("), "{why}");
}

#[tokio::test]
async fn noise_is_refused() {
    for (seed, head) in [
        (1, &b""[..]),
        (2, b"%PDF-1.7\n"),
        (3, b"PK\x03\x04xl/workbook.xml"),
        (4, b"PK\x03\x04"),
        (5, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1W\0o\0r\0k\0b\0o\0o\0k\0"),
    ] {
        let file = [head, &noise(100_000, seed)].concat();
        let why = refusal(&file).await;
        assert!(why.contains("; "), "no way out: {why}");
    }
    let why = refusal(b"").await;
    assert!(why.starts_with("it is empty (0 bytes); "), "{why}");
}

#[tokio::test]
async fn changed_bytes_never_hang_or_pass_a_limit() {
    let whole = pdf_of(&pages(&[lines(&["some text"]), lines(&["more text"])]), "");
    for seed in 1..40u64 {
        let mut file = whole.clone();
        for (n, byte) in noise(6, seed).into_iter().enumerate() {
            let at = (seed as usize * 7_919 + n * 104_729) % file.len();
            file[at] = byte;
        }
        // Whatever it answers is an answer.
        drop(crate::support::read_with(&file, &all(), Limits::default()).await);
    }
}

#[tokio::test]
async fn a_huge_file_is_refused_unread() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(FILE_BYTES_MAX + 1).unwrap();
    let why = read(&reader(), file, &all(), Limits::default()).await.unwrap_err().to_string();
    assert!(why.starts_with("it is larger than 64 MiB; "), "{why}");
}

#[tokio::test]
async fn an_encrypted_workbook_is_named_as_such() {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &[0; 600][..], &name].concat();
    assert_eq!(refusal(&file).await, "it is encrypted; make a copy without a password");
}

/// Reads with a program that answers in its own way.
async fn by(program: &str, ms_max: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reader");
    std::fs::write(&path, format!("#!/bin/sh\n{program}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = File::open(&path).unwrap();
    let limits = Limits { ms_max, ..Limits::default() };
    read(&path, file, &all(), limits).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_reader_that_misbehaves_is_an_error() {
    for (program, why) in [
        ("exit 0", "its reader broke down on it"),
        ("echo '{\"Document\":'", "its reader broke down on it"),
        ("kill -SEGV $$", "its reader broke down on it"),
        ("kill -XCPU $$", "reading it takes more than 20000 ms"),
        ("exec /bin/cat /dev/zero", "its reader broke down on it"),
        (
            "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$",
            "reading it needs more than 768 MiB",
        ),
    ] {
        let said = by(program, Limits::default().ms_max).await;
        assert!(said.starts_with(why), "{program}: {said}");
    }
    let said = by("exec /usr/bin/tail -f /dev/null", 200).await;
    assert!(said.starts_with("reading it takes more than 200 ms"), "{said}");
    let error = read("/nowhere".as_ref(), File::open("/dev/null").unwrap(), &all(), Limits::default()).await;
    assert!(
        error.unwrap_err().to_string().starts_with("the process that reads documents could not be started")
    );
}

/// Returns a line of a file about the only child of this process.
#[cfg(target_os = "linux")]
fn of_child(file: &str, start: &str) -> Option<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let children =
        threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap());
    let child = children.collect::<String>();
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", child.trim())).ok()?;
    text.lines().find(|line| line.starts_with(start)).map(str::to_owned)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn process_the_reader_is_confined_before_it_reads() {
    use std::io::Write;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut pipe = File::options().read(true).write(true).open(&path).unwrap();
    pipe.write_all(b"x").unwrap();
    let limits = Limits { cpu_s: 7, ..Limits::default() };
    let file = pipe.try_clone().unwrap();
    let reading = tokio::spawn(async move { read(&reader(), file, &all(), limits).await });
    // The document has no end, so the reader waits for more of it.
    while rustix::io::ioctl_fionread(&pipe).unwrap() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(of_child("status", "Seccomp:").as_deref(), Some("Seccomp:\t2"));
    let words = |line: Option<String>| -> Vec<String> {
        line.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    for (start, value) in [
        ("Max cpu time", "7"),
        ("Max file size", "0"),
        ("Max core file size", "0"),
        ("Max data size", "805306368"),
    ] {
        assert!(words(of_child("limits", start)).iter().any(|word| word == value), "{start}");
    }
    let environment = of_child("environ", "").unwrap_or_default();
    assert_eq!(environment, "MIMALLOC_ARENA_RESERVE=65536\0");
    // A caller that no longer waits ends it.
    reading.abort();
    drop(reading.await);
    while of_child("status", "State:").is_some_and(|state| !state.contains('Z')) {
        tokio::task::yield_now().await;
    }
}
