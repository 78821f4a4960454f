//! No big file is tracked: a clone contains every version of it.

use crate::finding::Finding;
use crate::tree::{FILE_BYTES_MAX, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let big = tree.files().iter().filter(|file| file.bytes > FILE_BYTES_MAX);
    let finding = |file: &crate::tree::File| {
        let reason = format!("{} bytes, {FILE_BYTES_MAX} are allowed in a tracked file", file.bytes);
        Finding::whole(&file.path, reason)
    };
    big.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    #[test]
    fn a_file_of_more_than_a_mebibyte_is_found() {
        let file = |path: &str, bytes| File { path: path.to_owned(), bytes, text: None };
        let tree = Tree::new(vec![file("a.bin", FILE_BYTES_MAX), file("b.bin", FILE_BYTES_MAX + 1)]);
        let expected = "b.bin: 1048577 bytes, 1048576 are allowed in a tracked file\n";
        assert_eq!(crate::finding::text(&check(&tree)), expected);
    }
}
