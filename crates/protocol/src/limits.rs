//! Every limit of the vocabulary, with its name and what happens when it is reached.

/// Maximum characters of the operator's instructions for every task, all of them together.
pub const THINKING_CHARS_MAX: usize = 8_000;
/// Maximum sources that a record of memory, or its answer, carries. Others are left out: two decide all that more would.
pub const LESSON_SOURCES_MAX: usize = 16;
/// Longest raw input in bytes. A longer goal is refused before a task is opened.
pub const RAW_INPUT_BYTES_MAX: usize = 256 * 1024;
/// Maximum sub-tasks in one plan. A plan with more is refused by the plan validator.
pub const SUBTASKS_MAX: usize = 32;
/// Maximum criteria of one sub-task, or of one task. A plan with more is refused.
pub const CRITERIA_MAX: usize = 32;
/// Longest text of one criterion in characters. A plan with a longer one is refused.
pub const CRITERION_CHARS_MAX: usize = 1_000;
/// Longest intent in characters. A longer one is cut at a word with a mark.
pub const INTENT_CHARS_MAX: usize = 2_000;
/// Maximum characters of the person's words that a model sees; longer ones are cut at a line's end, with a mark.
pub const WORDS_CHARS_MAX: usize = 16_000;
/// Longest `context` of a sub-task in characters. A longer one is cut with a mark.
pub const CONTEXT_CHARS_MAX: usize = 16_000;
/// Maximum characters of all outputs that a sub-task receives from earlier ones. An output that does not fit keeps its
/// head and tail.
pub const OUTPUTS_CHARS_MAX: usize = 16_000;
/// Maximum characters of a call's evidence in a `ToolRecord`. A program's output keeps head and tail, any other result
/// its beginning, in whole lines; the cut is marked.
pub const EVIDENCE_CHARS_MAX: usize = 24_000;
/// The same for a probe, whose record is judged by code. If a cut may affect a check, its verdict says so.
pub const PROBE_EVIDENCE_CHARS_MAX: usize = 48_000;
/// Maximum bytes of canonical JSON for a record's structured facts; larger facts are left out, and the evidence says
/// so.
pub const FACTS_BYTES_MAX: usize = 256 * 1024;
/// Maximum bytes of a tool's output that are kept while reading. Head and tail are kept, the cut is marked.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Maximum model–tool rounds in one attempt of R3; reaching it ends the attempt as `failed`.
pub const TOOL_ROUNDS_MAX: u32 = 24;
/// Maximum tool calls in one model answer; further ones are refused with an error record.
pub const CALLS_PER_REPLY_MAX: usize = 16;
/// Maximum corrections of one sub-task (attempts are one more); then the sub-task is `failed`.
pub const CORRECTIONS_MAX: u32 = 2;
/// Maximum times that the same call may return the same result while nothing changed; the last one ends the attempt.
pub const SAME_RESULT_MAX: u32 = 3;
/// Maximum consecutive tool rounds that return nothing new for their calls, numbers in the calls aside; the last one
/// ends the attempt.
pub const STALE_ROUNDS_MAX: u32 = 8;
/// The same for rounds in which every call fails with an error seen before.
pub const FAILED_ROUNDS_MAX: u32 = 5;
/// Maximum plan calls in one round; after the last refusal R2 raises a `TaskFault`.
pub const PLAN_CALLS_MAX: u32 = 4;
/// Maximum clarification rounds of one task; then R1 commits with what it has.
pub const CLARIFICATION_ROUNDS_MAX: u32 = 2;
/// Maximum questions in one clarification round; further ones are dropped.
pub const QUESTIONS_MAX: usize = 5;
/// Maximum earlier exchanges of the session that R1 sees.
pub const HISTORY_MAX: usize = 5;
/// Maximum characters of one history entry's summary and of its output excerpt.
pub const HISTORY_CHARS_MAX: usize = 1_000;
/// Maximum records waiting inside one cell; reaching it is a `TaskFault`.
pub const CELL_QUEUE_MAX: usize = 4_096;
/// Maximum records of one step; reaching it is a `TaskFault` (a machine that sends to itself without end).
pub const STEP_RECORDS_MAX: usize = 2_048;
/// Maximum bytes of one record's body; a larger one is refused and is a `TaskFault`.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Minimum time limit of an abandon's partial report, in milliseconds; after the limit the template is used.
pub const REPORT_MS_MIN: u64 = 30_000;
/// Time limit of a partial report as a multiple of its model's median latency so far, if that is more than
/// [`REPORT_MS_MIN`].
pub const REPORT_MEDIANS: u64 = 3;
/// Maximum milliseconds that stopped asks have to return; after that they are answered `interrupted`.
pub const STOP_MS_MAX: u64 = 2_000;
/// Maximum effector instances (sub-tasks) of one task over all its rounds; reaching it is a `TaskFault`.
pub const INSTANCES_MAX: u16 = 4_096;
/// Maximum characters of a task id.
pub const TASK_ID_CHARS_MAX: usize = 80;
/// Maximum levels of objects and lists in JSON of no fixed shape from a model. A record adds some levels, and
/// `serde_json` reads at most 127.
pub const VALUE_DEPTH_MAX: usize = 64;
/// Greatest nesting depth of a predicate; a deeper one is malformed.
pub const PREDICATE_DEPTH_MAX: usize = 8;
/// Longest regular expression in a predicate, in characters; a longer one is malformed.
pub const PATTERN_CHARS_MAX: usize = 1_000;
/// Greatest compiled size of a regular expression in a predicate, in bytes; a larger one is malformed.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;
