//! The tools from outside: real files, real processes, and other programs that compute the same.

#[cfg(test)]
mod files;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod search;
#[cfg(test)]
mod shell;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tables;
