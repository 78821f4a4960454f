//! `largest-files`, `disk-usage`, `file-checksum`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::{Want, below, case, hold, is_file, odd_home, worded};
use crate::support::Home;

fn sizes(home: &Home, folder: &str) -> Vec<(u64, String)> {
    let mut files: Vec<(u64, String)> = below(home, folder)
        .into_iter()
        .filter(|(_, path)| is_file(path))
        .map(|(told, path)| (fs::metadata(path).unwrap().len(), told))
        .collect();
    files.sort_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
    files
}

/// Returns the bytes of all files, one with several names counted once.
fn bytes_once(home: &Home, folder: &str) -> u64 {
    let mut seen = BTreeSet::new();
    let files = below(home, folder).into_iter().map(|(_, path)| path).filter(|path| is_file(path));
    let metas =
        files.map(|path| fs::metadata(path).unwrap()).filter(|meta| seen.insert((meta.dev(), meta.ino())));
    metas.map(|meta| meta.len()).sum()
}

/// Returns a home with odd names, many equal sizes, a sparse file and a file with two names.
fn home() -> Home {
    let home = odd_home();
    for n in 0..40 {
        home.file(format!("many/{n}"), "same size");
    }
    File::create(home.work().join("many/sparse")).unwrap().set_len(5_000_000).unwrap();
    home.file("linked/one/data", vec![7_u8; 20_000]);
    fs::create_dir(home.work().join("linked/other")).unwrap();
    fs::hard_link(home.work().join("linked/one/data"), home.work().join("linked/other/again")).unwrap();
    fs::hard_link(home.work().join("linked/one/data"), home.work().join("linked/one/third")).unwrap();
    for n in 0..60 {
        home.file(format!("folders/d{n:02}/f"), vec![b'x'; 100 * n]);
    }
    home
}

/// Returns the note that others are as large as the last one listed. Sizes are sorted.
fn ties(sizes: impl Iterator<Item = u64> + Clone, count: usize, what: &str) -> Option<(&'static str, Value)> {
    let last = sizes.clone().nth(count - 1)?;
    match sizes.skip(count).filter(|size| *size == last).count() {
        0 => None,
        1 => Some(("/left_out/0", json!(format!("1 further {what} is as large as the last one listed")))),
        n => Some(("/left_out/0", json!(format!("{n} further {what}s are as large as the last one listed")))),
    }
}

#[test]
fn largest_files() {
    let home = home();
    let mut cases = Vec::new();
    for folder in ["odd dir", "many", "linked", "folders"] {
        let files = sizes(&home, folder);
        let total = bytes_once(&home, folder);
        for (count, way) in [
            (3, "find the three largest files under {}"),
            (10, "what are the 10 biggest files in {}?"),
            (1, "which file is the biggest in {}?"),
            (5, "show me the top 5 files by size in {}"),
        ] {
            let listed: Vec<Value> =
                files.iter().take(count).map(|(bytes, path)| json!({"bytes": bytes, "path": path})).collect();
            let mut values = vec![
                ("/files", json!(listed)),
                ("/out_of", json!(files.len())),
                ("/total_bytes", json!(total)),
                ("/complete", json!(true)),
            ];
            values.extend(ties(files.iter().map(|(bytes, _)| *bytes), count, "file"));
            cases.push(case(way.replace("{}", &format!("'{folder}'")), Want::Answer(values)));
        }
    }
    // A file whose name is not UTF-8 is listed like others.
    fs::create_dir(home.work().join("bytes")).unwrap();
    fs::write(home.work().join(OsStr::from_bytes(b"bytes/l\xffrgest.bin")), vec![0; 5000]).unwrap();
    home.file("bytes/line\nbreak.txt", "xy");
    let path = json!("bytes/l\\xffrgest.bin [name is not UTF-8]");
    let largest = vec![("/files/0/path", path), ("/out_of", json!(2)), ("/total_bytes", json!(5002))];
    cases.push(case("find the 2 largest files in bytes", Want::Answer(largest)));
    let none = vec![("/files", json!([])), ("/out_of", json!(0)), ("/total_bytes", json!(0))];
    cases.push(case("largest files in 'odd dir/empty'", Want::Answer(none)));
    cases.push(case("find the 200 largest files in many", Want::Refused("between 1 and 100")));
    cases.push(case("largest files in nowhere", Want::Refused("nowhere does not exist in ")));
    cases.push(case("which files are the largest in 'many/1'", Want::Refused("is a file, not a directory")));
    hold(&home, &cases);
}

/// Returns what a folder takes on the disk: its own blocks and those of all below it, a file with several
/// names once.
fn on_disk(home: &Home, folder: &str) -> u64 {
    let own = fs::metadata(home.work().join(folder)).unwrap().blocks();
    let mut seen = BTreeSet::new();
    let all = below(home, folder).into_iter().map(|(_, path)| fs::symlink_metadata(path).unwrap());
    let counted = all.filter(|meta| meta.is_dir() || meta.nlink() == 1 || seen.insert(meta.ino()));
    (own + counted.map(|meta| meta.blocks()).sum::<u64>()) * 512
}

#[test]
fn disk_usage() {
    let home = home();
    let mut cases = Vec::new();
    for folder in ["odd dir", "many", "linked", "folders"] {
        let total = bytes_once(&home, folder);
        let right_below: Vec<(String, u64)> = below(&home, folder)
            .into_iter()
            .filter(|(told, path)| {
                told.matches('/').count() == 1 && fs::symlink_metadata(path).unwrap().is_dir()
            })
            .map(|(told, _)| (told.clone(), on_disk(&home, &told)))
            .collect();
        let mut listed = right_below.clone();
        listed.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        for (way, count) in [
            ("how much space does {} take?", 50),
            ("disk usage by directory under {}", 50),
            ("list the 5 largest directories in {}", 5),
        ] {
            let told: Vec<Value> = listed
                .iter()
                .take(count)
                .map(|(path, bytes)| json!({"disk_bytes": bytes, "path": path}))
                .collect();
            let mut values = vec![
                ("/disk_bytes", json!(on_disk(&home, folder))),
                ("/total_bytes", json!(total)),
                ("/directory_count", json!(right_below.len())),
                ("/directories", json!(told)),
            ];
            if told.len() < right_below.len() {
                let said = format!("{} of {} directories are listed", told.len(), right_below.len());
                let tied = ties(listed.iter().map(|(_, bytes)| *bytes), count, "folder");
                values.push((if tied.is_some() { "/left_out/1" } else { "/left_out/0" }, json!(said)));
                values.extend(tied);
            }
            cases.push(case(way.replace("{}", &format!("'{folder}'")), Want::Answer(values)));
        }
    }
    cases.push(case("how much space does nowhere take?", Want::Refused("nowhere does not exist in ")));
    cases.push(case("disk usage of 'many/1'", Want::Refused("is a file, not a directory")));
    hold(&home, &cases);
}

/// From FIPS 180-4 and NIST's examples.
const SUMS: &[(&str, &str, &str)] = &[
    ("abc.txt", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("nothing at all", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (
        "back\\slash.bin",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
];

#[test]
fn file_checksum() {
    let home = home();
    let mut cases = Vec::new();
    for (name, content, sum) in SUMS {
        home.file(name, content);
        let ways = ["sha256 of {}", "what is the checksum of {}?", "compute the sha256 hash of the file {}"];
        cases.extend(worded(&ways, &format!("'./{name}'"), || {
            Want::Answer(vec![("/sha256", json!(sum)), ("/bytes", json!(content.len()))])
        }));
    }
    home.file("million", vec![b'a'; 1_000_000]);
    let million = json!("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    cases.push(case("hash ./million", Want::Answer(vec![("/sha256", million)])));
    cases.push(case("sha256 of gone.iso", Want::Refused("gone.iso does not exist in ")));
    cases.push(case("sha256 of many", Want::Refused("many is a directory, not a file")));
    hold(&home, &cases);
}

/// The home directory contains the journal of the task that measures it: both computations leave that out,
/// and the answer says so.
#[test]
fn setpoints_own_files_in_a_home() {
    let home = Home::new();
    home.file("photos/a", vec![b'x'; 3_000_000]);
    home.file("photos/b", vec![b'y'; 20_000]);
    let own = json!(["2 files or folders of Setpoint's own were left out"]);
    let shown = home.work().display().to_string();
    let photos = format!("{shown}/photos");
    let hold_with = |goal: &str, values: Vec<(&'static str, Value)>| {
        hold(&home, &[case(goal, Want::Answer(values))]);
    };
    hold_with(
        "how much disk space does ~ use",
        vec![("/left_out", own.clone()), ("/total_bytes", json!(3_020_000))],
    );
    let largest = json!([{"bytes": 3_000_000, "path": format!("{photos}/a")}]);
    hold_with("which file is the biggest in ~?", vec![("/files", largest), ("/left_out", own.clone())]);
    hold_with("find duplicate files in ~", vec![("/groups", json!(0)), ("/left_out", own)]);
    // In a folder beside Setpoint's own, nothing needs to be left out.
    let beside = format!("{}/pictures", home.data().parent().unwrap().display());
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(format!("{beside}/one"), "1").unwrap();
    let goal = format!("archive {beside} to pictures.tar.gz");
    hold(&home, &[case(goal, Want::Answer(vec![("/entries", json!(2)), ("/problems", json!([]))]))]);
}

/// A trailing slash names the same path, and the answer says what `$` means in one.
#[test]
fn paths_with_signs() {
    let home = Home::new();
    home.file("x/f", "abc");
    home.file("$RECYCLE.BIN/f", "abc");
    let cases = [
        case("largest files in x//", Want::Answer(vec![("/files", json!([{"path": "x/f", "bytes": 3}]))])),
        case("largest files in '$RECYCLE.BIN'", Want::Refused("`$` begins the name of a variable there")),
    ];
    hold(&home, &cases);
}

/// A list that is too long for an answer is shortened, and the answer says so.
#[test]
fn many_folders_with_long_names() {
    let home = Home::new();
    for n in 0..1_000 {
        fs::create_dir_all(home.work().join(format!("d/{n:03}{}", "x".repeat(200)))).unwrap();
    }
    let values = vec![
        ("/directory_count", json!(1_000)),
        ("/complete", json!(true)),
        ("/directories/0/path", json!(format!("d/000{}", "x".repeat(200)))),
        ("/directories/999", Value::Null),
    ];
    hold(&home, &[case("list the 1000 largest directories in d", Want::Answer(values))]);
    // Only those right below are measured.
    hold(&home, &[case("list the 2 largest directories under d", Want::Refused("no playbook matches"))]);
}
