//! The names of servers and of their tools in the catalogue.

/// Longest name of a tool that every provider accepts.
const TOOL_NAME_CHARS_MAX: usize = 64;
/// Longest name of a server.
pub const SERVER_NAME_CHARS_MAX: usize = 20;
/// Begins the name of every tool of a server, and of no other tool.
const PREFIX: &str = "mcp_";
/// Hexadecimal digits of the hash that keeps altered names apart.
const HASH_CHARS: usize = 8;

/// Returns whether a server may have this name: 1 to [`SERVER_NAME_CHARS_MAX`] of the characters a-z, 0-9 and `-`. It has
/// no `_`, which ends it in the name of a tool.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    (1..=SERVER_NAME_CHARS_MAX).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns whether a tool of this name is one of a server.
pub(super) fn is_of_tool(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Returns the name of a server's tool: `mcp_SERVER_TOOL`. What a provider would not accept is replaced; such a name ends
/// in a hash of the whole.
pub(super) fn of_tool(server: &str, tool: &str) -> String {
    let head = format!("{PREFIX}{server}_");
    let room = TOOL_NAME_CHARS_MAX.saturating_sub(head.len());
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !tool.is_empty() && tool.len() <= room && tool.chars().all(is_fit) {
        return head + tool;
    }
    let kept =
        tool.chars().map(|c| if is_fit(c) { c } else { '_' }).take(room.saturating_sub(HASH_CHARS + 1));
    let hash = blake3::hash(tool.as_bytes()).to_hex();
    let hash = hash.chars().take(HASH_CHARS);
    head.chars().chain(kept).chain(['_']).chain(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_names_that_every_provider_accepts() {
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        for tool in
            ["read", "a.b/c", "\u{1b}[2J", "日本", "", &"n".repeat(128), &"n".repeat(39), &"n".repeat(40)]
        {
            let name = of_tool(&"s".repeat(SERVER_NAME_CHARS_MAX), tool);
            assert!(name.len() <= 64 && name.chars().all(is_fit), "{name}");
        }
        assert_eq!(of_tool("files", "read_file"), "mcp_files_read_file");
        assert_eq!(
            of_tool("files", "a.b").strip_suffix(|c: char| c.is_ascii_hexdigit()).map(str::len),
            Some(21)
        );
    }

    #[test]
    fn different_tools_have_different_names() {
        let mut names: Vec<String> = [
            ("a", "b_c"),
            ("a", "b.c"),
            ("a", "b/c"),
            ("a-b", "c"),
            ("a", "-b_c"),
            ("a", &"n".repeat(100)),
            ("a", &"n".repeat(101)),
        ]
        .map(|(server, tool)| of_tool(server, tool))
        .into();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 7, "{names:?}");
    }

    #[test]
    fn a_server_has_a_plain_short_name() {
        assert!(["a", "git-hub", "7"].into_iter().all(is_server_name));
        assert!(!["", "A", "a_b", "a b", "é", &"a".repeat(21)].into_iter().any(is_server_name));
    }
}
