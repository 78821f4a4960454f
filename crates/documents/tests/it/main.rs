//! Documents from outside: files that other programs wrote, read by the real process.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod pdfs;
#[cfg(test)]
mod support;
#[cfg(test)]
mod workbooks;
