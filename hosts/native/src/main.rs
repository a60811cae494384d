//! The binary `a2a-edge`.

fn main() {}
