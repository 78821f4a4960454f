//! Every limit of the vocabulary, with its name and what happens when it is reached.

/// Characters of what the operator has laid down for every task, all of it together.
pub const THINKING_CHARS_MAX: usize = 8_000;
/// Longest raw input in bytes. A longer goal is refused before a task is opened.
pub const RAW_INPUT_BYTES_MAX: usize = 256 * 1024;
/// Most sub-tasks in one plan. A plan with more is refused by the plan validator.
pub const SUBTASKS_MAX: usize = 32;
/// Most criteria of one sub-task, or of one task. A plan with more is refused.
pub const CRITERIA_MAX: usize = 32;
/// Longest text of one criterion in characters. A plan with a longer one is refused.
pub const CRITERION_CHARS_MAX: usize = 1_000;
/// Longest intent in characters. A longer one is cut at a word with a mark.
pub const INTENT_CHARS_MAX: usize = 2_000;
/// Characters of the person's words that a model sees; longer ones are cut at a line's end, with a mark.
pub const WORDS_CHARS_MAX: usize = 16_000;
/// Longest `context` of a sub-task in characters. A longer one is cut with a mark.
pub const CONTEXT_CHARS_MAX: usize = 16_000;
/// Characters of all outputs that a sub-task gets from earlier ones; of each that has no room, head and tail are kept.
pub const OUTPUTS_CHARS_MAX: usize = 16_000;
/// Characters of a call's evidence that travel in a `ToolRecord`. A program's output keeps head and tail, any other result
/// its beginning, by lines; the cut is marked.
pub const EVIDENCE_CHARS_MAX: usize = 24_000;
/// The same for a probe, whose record code judges by; what a check may then miss is said in its verdict.
pub const PROBE_EVIDENCE_CHARS_MAX: usize = 48_000;
/// Bytes of canonical JSON that a record's structured facts may take; larger facts are left out, and the evidence says so.
pub const FACTS_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a tool's output that are kept while reading; head and tail are kept, the cut is marked.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Model–tool rounds in one attempt of R3; reaching it ends the attempt as `failed`.
pub const TOOL_ROUNDS_MAX: u32 = 24;
/// Tool calls that one model answer may ask for; the rest are refused with an error record.
pub const CALLS_PER_REPLY_MAX: usize = 16;
/// Corrections of one sub-task (attempts are one more); then the sub-task is `failed`.
pub const CORRECTIONS_MAX: u32 = 2;
/// Times the same call may give the same result while nothing changed; the last of them ends the attempt.
pub const SAME_RESULT_MAX: u32 = 3;
/// Tool rounds in a row that bring nothing new, the calls' numbers aside; the last of them ends the attempt.
pub const STALE_ROUNDS_MAX: u32 = 8;
/// The same where every call of them fails, with errors that came before.
pub const FAILED_ROUNDS_MAX: u32 = 5;
/// Plan calls in one round; after the last refusal R2 raises a `TaskFault`.
pub const PLAN_CALLS_MAX: u32 = 4;
/// Clarification rounds of one task; then R1 commits with what it has.
pub const CLARIFICATION_ROUNDS_MAX: u32 = 2;
/// Questions in one clarification round; the rest are dropped.
pub const QUESTIONS_MAX: usize = 5;
/// Earlier exchanges of the session that R1 sees.
pub const HISTORY_MAX: usize = 5;
/// Characters of one history entry's summary and of its output excerpt.
pub const HISTORY_CHARS_MAX: usize = 1_000;
/// Records waiting inside one cell; reaching it is a `TaskFault`.
pub const CELL_QUEUE_MAX: usize = 4_096;
/// Records of one step; reaching it is a `TaskFault` (a machine that talks to itself for ever).
pub const STEP_RECORDS_MAX: usize = 2_048;
/// Bytes of one record's body; a larger one is refused and is a `TaskFault`.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Milliseconds that the partial report of an abandon may take at least; then the template is used.
pub const REPORT_MS_MIN: u64 = 30_000;
/// How many times the median latency of its model so far a partial report may take, where that is more.
pub const REPORT_MEDIANS: u64 = 3;
/// Milliseconds that stopped asks have to come back; then they are answered `interrupted`.
pub const STOP_MS_MAX: u64 = 2_000;
/// Effector instances (sub-tasks) of one task over all its rounds; reaching it is a `TaskFault`.
pub const INSTANCES_MAX: u16 = 4_096;
/// Characters of a task id.
pub const TASK_ID_CHARS_MAX: usize = 80;
/// Levels of objects and lists in JSON of no fixed shape that a model said. A record puts some around it, and `serde_json`
/// reads no more than 127 back.
pub const VALUE_DEPTH_MAX: usize = 64;
/// Nesting depth of a predicate; a deeper one is malformed.
pub const PREDICATE_DEPTH_MAX: usize = 8;
/// Characters of a regular expression in a predicate; a longer one is malformed.
pub const PATTERN_CHARS_MAX: usize = 1_000;
/// Compiled size in bytes of a regular expression in a predicate; a larger one is malformed.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;
