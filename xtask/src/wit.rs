//! `cargo xtask wit`: that the interfaces of `wit/` still fit what was built for them.
//!
//! `wit/released/` keeps each version as it was released, without its documentation. Within a version, and within the
//! versions that are compatible with it by their numbers, components and hosts made for the one must work with the other.

use std::fs;
use std::path::PathBuf;

use wit_component::{OutputToString, WitPrinter, semver_check};
use wit_parser::{PackageId, Resolve};

use crate::files::{self, read};
use crate::process::root;
use crate::{Failure, Outcome};

/// The worlds whose components others write. Of every other world the component is ours, and others write the hosts.
const OF_OTHERS: [&str; 1] = ["extension"];

/// Stands in for the version of what was released, so that both fit into one resolve; later than any, so that
/// whatever is `@since` some version is there.
const ASIDE: &str = "9999.0.0";

/// Checks the interfaces against those last released, or with `--keep` keeps them as released.
///
/// # Errors
/// They do not fit, cannot be read, or any other argument is given.
pub fn run(arguments: &[String]) -> Outcome {
    let now = printed()?;
    match arguments {
        [] => {
            let (file, released) = released()?;
            check(&now, &released).map_err(|why| Failure::new(format!("{}: {why}", file.display())))
        }
        [keep] if keep == "--keep" => {
            let version = version(&now).map_err(Failure::new)?;
            let file = place().join(format!("{version}.wit"));
            files::write(&file, now.as_bytes())?;
            println!("{}", file.display());
            Ok(())
        }
        [argument, ..] => Err(Failure::new(format!(
            "`wit` takes --keep alone, not `{argument}`"
        ))),
    }
}

fn place() -> PathBuf {
    root().join("wit").join("released")
}

/// The interfaces in one text, without their documentation.
fn printed() -> Outcome<String> {
    let fault = |error| Failure::new(format!("cannot read wit/: {error:#}"));
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(root().join("wit")).map_err(fault)?;
    let mut printer = WitPrinter::new(OutputToString::default());
    printer.emit_docs(false);
    printer.print(&resolve, package, &[]).map_err(fault)?;
    Ok(printer.output.to_string())
}

/// The file of the last release, and what it says.
fn released() -> Outcome<(PathBuf, String)> {
    let nothing = || Failure::new(format!("there is no release in {}", place().display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(place()).map_err(|_| nothing())?.flatten() {
        let text = String::from_utf8_lossy(&read(&entry.path())?).into_owned();
        found.push((numbers(&text).map_err(Failure::new)?, entry.path(), text));
    }
    found.sort();
    found
        .pop()
        .map(|(_, file, text)| (file, text))
        .ok_or_else(nothing)
}

/// Holds interfaces to those of a release.
fn check(now: &str, released: &str) -> Result<(), String> {
    let (new, old) = (numbers(now)?, numbers(released)?);
    if new < old {
        return Err(format!(
            "expected a version from {} on, not {}",
            version(released)?,
            version(now)?
        ));
    }
    if epoch(new) != epoch(old) {
        return Ok(());
    }
    let mut resolve = Resolve::default();
    let fault = |error| format!("cannot be read: {error:#}");
    let aside = released.replacen(&format!("@{};", version(released)?), &format!("@{ASIDE};"), 1);
    let new = resolve.push_source("wit", now).map_err(fault)?;
    let old = resolve.push_source("released", &aside).map_err(fault)?;
    let worlds = |package: PackageId| {
        resolve
            .packages
            .get(package)
            .map(|package| package.worlds.clone())
    };
    let (new, old) = (worlds(new).unwrap_or_default(), worlds(old).unwrap_or_default());
    for (name, old) in old {
        let Some(new) = new.get(&name).copied() else {
            return Err(format!("world {name} is gone: that takes a new version"));
        };
        // What others have written stands on the side of the release.
        let (component, host) = if OF_OTHERS.contains(&name.as_str()) {
            (old, new)
        } else {
            (new, old)
        };
        semver_check(resolve.clone(), component, host)
            .map_err(|error| format!("world {name} has changed so that it takes a new version: {error:#}"))?;
    }
    Ok(())
}

/// The version of a package, as its first line names it.
fn version(text: &str) -> Result<&str, String> {
    let named = text
        .split_once('@')
        .and_then(|(_, behind)| behind.split_once(';'));
    let (version, _) = named.ok_or("expected a package with a version")?;
    Ok(version)
}

/// Its numbers.
fn numbers(text: &str) -> Result<[u32; 3], String> {
    let numbers: Option<Vec<u32>> = version(text)?.split('.').map(|part| part.parse().ok()).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "expected a version of three numbers".to_owned())
}

/// What versions that are compatible by their numbers share.
const fn epoch([major, minor, _]: [u32; 3]) -> (u32, u32) {
    (major, if major == 0 { minor } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(version: &str, functions: &str) -> String {
        format!(
            "package a:b@{version};\n@since(version = 0.1.0)\ninterface i {{ {functions} }}\n\
             @since(version = 0.1.0)\nworld core {{ @since(version = 0.1.0) export i; }}\n\
             @since(version = 0.1.0)\nworld extension {{ @since(version = 0.1.0) export i; }}\n"
        )
    }

    fn both(now: &str, functions: &str) -> Result<(), String> {
        check(now, &package("0.1.0", functions))
    }

    const ONE: &str = "@since(version = 0.1.0) f: func(a: string) -> u32;";

    #[test]
    fn what_is_as_it_was_fits() {
        both(&package("0.1.0", ONE), ONE).unwrap();
    }

    #[test]
    fn a_change_of_a_type_takes_a_new_version() {
        let changed = "@since(version = 0.1.0) f: func(a: string) -> u64;";
        for version in ["0.1.0", "0.1.1"] {
            let why = both(&package(version, changed), ONE).unwrap_err();
            assert!(why.contains("takes a new version"), "{why}");
        }
        both(&package("0.2.0", changed), ONE).unwrap();
        both(&package("1.0.0", changed), ONE).unwrap();
    }

    #[test]
    fn a_world_that_is_gone_takes_a_new_version() {
        let gone = package("0.1.0", ONE).replace("world extension", "world other");
        assert!(both(&gone, ONE).unwrap_err().contains("world extension is gone"));
    }

    #[test]
    fn one_more_function_is_no_matter_in_our_component_but_asks_too_much_of_others() {
        let more = format!("{ONE} @since(version = 0.1.0) g: func();");
        let why = both(&package("0.1.0", &more), ONE).unwrap_err();
        assert!(why.contains("world extension"), "{why}");
        let ours = |text: &str| package("0.1.0", text).replace("world extension", "world validators");
        check(&ours(&more), &ours(ONE)).unwrap();
        assert!(check(&ours(ONE), &ours(&more)).is_err());
    }

    #[test]
    fn an_earlier_version_is_refused() {
        assert!(check(&package("0.1.0", ONE), &package("0.1.1", ONE)).is_err());
    }
}
