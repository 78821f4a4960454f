//! The tools from outside: real files, real processes, and other programs that compute the same figures.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod archives;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod background;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod changes;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod code;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod commits;
#[cfg(test)]
mod consent;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod denials;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod files;
#[cfg(test)]
mod git;
#[cfg(test)]
mod house;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod keys;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod patches;
#[cfg(test)]
mod places;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod rename;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(test)]
mod search;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod servers;
#[cfg(test)]
mod shell;
#[cfg(test)]
mod support;
#[cfg(test)]
mod survey;
#[cfg(test)]
mod survivors;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tricks;
#[cfg(test)]
mod undo;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod usage;
#[cfg(test)]
mod web_search;
