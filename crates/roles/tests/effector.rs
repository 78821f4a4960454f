//! R3, R4a and R4b: their scripts, their prompts, and properties that hold for any input.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
#[path = "effector/brief_line.rs"]
mod brief_line;
#[cfg(test)]
#[path = "effector/driver.rs"]
mod driver;
#[cfg(test)]
#[path = "effector/many_results.rs"]
mod many_results;
#[cfg(test)]
#[path = "effector/prompts.rs"]
mod prompts;
#[cfg(test)]
#[path = "effector/properties.rs"]
mod properties;
#[cfg(test)]
#[path = "effector/scripts.rs"]
mod scripts;
#[cfg(test)]
#[path = "effector/world.rs"]
mod world;
