//! Programs of other ecosystems, pinned by a lock file in this repository and installed in the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{root, target_dir};
use crate::{Failure, Outcome};

/// The folder of this name in the target directory, with what `lock` pins in it: `install` puts it there unless that was
/// done. Once installed nothing is asked of the network.
pub(crate) fn installed(lock: &Path, name: &str, install: impl FnOnce(&Path) -> Outcome) -> Outcome<PathBuf> {
    let place = target_dir().join("tools").join(name);
    let lock = root().join(lock);
    let pinned =
        fs::read(&lock).map_err(|error| Failure::new(format!("cannot read {}: {error}", lock.display())))?;
    // Written only once everything is there, so its presence says so.
    let stamp = place.join("installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(place);
    }
    eprintln!("xtask: installing {} into {}", lock.display(), place.display());
    fs::create_dir_all(&place).map_err(|error| cannot_write(&place, &error))?;
    install(&place)?;
    fs::write(&stamp, pinned).map_err(|error| cannot_write(&stamp, &error))?;
    Ok(place)
}

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}
