//! The script language of machine tests: every line form, and errors that name their line.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
#[path = "script/errors.rs"]
mod errors;
#[cfg(test)]
#[path = "script/forms.rs"]
mod forms;
#[cfg(test)]
#[path = "script/toys.rs"]
mod toys;
