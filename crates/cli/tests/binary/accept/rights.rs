//! Unreadable files and folders: the answer says what it leaves out, and the rest of it is complete.

use serde_json::{Value, json};

use super::{Want, case, hold, texts};
use crate::support::{Home, shell};

#[test]
fn unreadable_files() {
    let home = Home::new();
    home.file("tree/a", "needle\n");
    home.file("tree/b", "needle\n");
    home.file("tree/shut/c", "needle\n");
    home.file("other/a", "needle\n");
    shell(&home.work(), "chmod 000 tree/b tree/shut");
    let home = home.without_rights();
    let gap = |values: Vec<(&'static str, Value)>| Want::Gap("everything could be read", values);
    let one = || texts(&["1 file or folder could not be read"]);
    let two = || texts(&["2 files or folders could not be read"]);
    let cases = [
        case("find 'needle' in tree", gap(vec![("/count", json!(1)), ("/left_out", two())])),
        case("count the lines in tree", gap(vec![("/lines", json!(1)), ("/left_out", two())])),
        case("disk usage of tree", gap(vec![("/total_bytes", json!(14)), ("/left_out", one())])),
        case(
            "find the three largest files under tree",
            gap(vec![("/out_of", json!(2)), ("/left_out", one())]),
        ),
        case("find duplicate files in tree", gap(vec![("/groups", json!(0)), ("/left_out", two())])),
        case("find broken links in tree", gap(vec![("/count", json!(0)), ("/left_out", one())])),
        // A partial manifest or archive would be useless, so nothing is created.
        case("create a checksum manifest of tree in ./m.sha256", Want::Refused("so nothing was made")),
        case("archive tree to ./t.tar", Want::Refused("so nothing was made")),
        case("compare tree with other", Want::Unmet("everything could be read")),
        case("find 'needle' in tree/b", Want::Refused("Permission denied")),
        case("sha256 of tree/b", Want::Refused("Permission denied")),
        case("summarise tree/shut/x.csv", Want::Refused("")),
    ];
    hold(&home, &cases);
    assert_eq!(shell(&home.work(), "ls -A"), "other\ntree");
    shell(&home.work(), "chmod 700 tree/b tree/shut");
}
