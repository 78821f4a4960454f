//! What is accepted from a server, and how long it is waited for.

/// Milliseconds for starting a server and agreeing on a revision. A server that does not answer the probe of the newer
/// revision is asked in the older one after 10 s.
pub const CONNECT_MS_MAX: u64 = 15_000;
/// Milliseconds for one page of the list of tools.
pub const LIST_MS_MAX: u64 = 20_000;
/// Milliseconds for one call.
pub const CALL_MS_MAX: u64 = 120_000;
/// Milliseconds for telling a server that the connection ends.
pub const CLOSE_MS_MAX: u64 = 500;
/// Largest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes that a server may send over stdio from the beginning of one request to that of the next.
pub const TURN_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Notifications that a server may send from the beginning of one request to that of the next.
pub const NOTIFICATIONS_MAX: u64 = 10_000;
/// Tools of one server.
pub const TOOLS_MAX: usize = 200;
/// Pages of the list of tools.
pub const PAGES_MAX: usize = 20;
/// Bytes of one definition as canonical JSON.
pub const DEFINITION_BYTES_MAX: usize = 32 * 1024;
/// Bytes of all definitions of a server.
pub const DEFINITIONS_BYTES_MAX: usize = 512 * 1024;
/// Characters of a tool's name.
pub const NAME_CHARS_MAX: usize = 128;
/// Characters of a description that is passed on.
pub const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// Characters of a server's words in an error.
pub const SAID_CHARS_MAX: usize = 400;
/// Failed connections and lost ones without a successful call between them, after which a server is given up.
pub const FAILURES_MAX: u32 = 5;
/// Milliseconds before the first new connection; they double with every further failure.
pub const BACK_OFF_MS: u64 = 250;
