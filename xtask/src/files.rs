//! Files that are built.

use std::fs;
use std::path::Path;

use crate::{Failure, Outcome};

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// The length that gzip at its best level gives: DEFLATE, a header of 10 bytes and a trailer of 8.
pub(crate) fn gzip_len(bytes: &[u8]) -> usize {
    miniz_oxide::deflate::compress_to_vec(bytes, 9)
        .len()
        .saturating_add(18)
}

/// The files in a folder and those below it, as paths within it, in order.
pub(crate) fn below(folder: &Path) -> Outcome<Vec<String>> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let inner = below(&entry.path())?;
            files.extend(inner.into_iter().map(|path| format!("{name}/{path}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// Copies a folder with all that is below it.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    for file in below(from)? {
        write(&to.join(&file), &read(&from.join(&file))?)?;
    }
    Ok(())
}

/// Puts those of the files that changed in their place, each at once, so that nobody reads half of it.
pub(crate) fn put(draft: &Path, place: &Path, files: &[impl AsRef<str>]) -> Outcome {
    for file in files {
        let (from, to) = (draft.join(file.as_ref()), place.join(file.as_ref()));
        let bytes = read(&from)?;
        if fs::read(&to).is_ok_and(|present| present == bytes) {
            continue;
        }
        let mut beside = to.clone().into_os_string();
        beside.push(format!(".{}", std::process::id()));
        write(beside.as_ref(), &bytes)?;
        fs::rename(&beside, &to)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", to.display())))?;
    }
    Ok(())
}
