//! The failures that are the kit's own.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::Outcome;

/// A fault of the kit: tests that a server which does as the specification says can't pass.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The tests, as pytest names them without their directory.
    pub tests: Vec<String>,
    /// What the kit demands.
    pub kit: String,
    /// The section of the specification.
    pub section: String,
    /// Its sentence.
    pub specification: String,
    /// Where the kit's own issues speak of it.
    #[serde(default)]
    pub upstream: Option<String>,
}

impl Fault {
    /// Whether a test is one of this fault's.
    #[must_use]
    pub fn names(&self, test: &str) -> bool {
        self.tests.iter().any(|named| test.ends_with(named))
    }
}

/// All of them, from `faults.json`.
///
/// # Errors
/// The file is no list of faults.
pub fn all() -> Outcome<Vec<Fault>> {
    Ok(serde_json::from_str(include_str!("../faults.json"))?)
}

/// The table of `docs/conformance.md`.
#[must_use]
pub fn table(faults: &[Fault]) -> String {
    let mut table = "| test | the kit demands | A2A 1.0 says | upstream |\n|---|---|---|---|\n".to_owned();
    for fault in faults {
        let tests: Vec<String> = fault.tests.iter().map(|test| format!("`{test}`")).collect();
        let _ = writeln!(
            table,
            "| {} | {} | {}: “{}” | {} |",
            tests.join("<br>"),
            fault.kit,
            fault.section,
            fault.specification,
            fault.upstream.as_deref().unwrap_or("–"),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_each_fault_as_the_list_does() {
        let page = include_str!("../../../docs/conformance.md");
        let table = table(&all().unwrap());
        assert!(page.contains(&table), "docs/conformance.md lacks:\n{table}");
    }
}
