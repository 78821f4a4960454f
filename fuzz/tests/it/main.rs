//! The fuzz targets without a fuzzer.

#[cfg(test)]
mod corpus;
