//! R6 around real journals.

#[cfg(test)]
mod journals;
