//! Operations that an extension adds to those of the protocol.

/// The operations of one extension and where they are called.
///
/// Over HTTP each is `POST {interface}/{path}/{resource}:{verb}` (session coordination, §1), a path that no
/// operation of the core can ever take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations {
    /// `extensions/<name>/<version>`: three segments of letters, digits, `-`, `.`, `_` and `~`, none of them `.` or
    /// `..`.
    pub path: String,
    /// In the order they are advertised in.
    pub list: Vec<Operation>,
}

impl Operations {
    /// The operation called by this last segment of a path, such as `requests:update`.
    #[must_use]
    pub fn find(&self, segment: &str) -> Option<&Operation> {
        self.list.iter().find(|operation| operation.has_segment(segment))
    }

    /// Whether the path has the form that keeps it out of the core's way.
    pub(super) fn path_is_valid(&self) -> bool {
        let mut segments = self.path.split('/');
        segments.next() == Some("extensions")
            && segments.clone().count() == 2
            && segments
                .all(|segment| !matches!(segment, "" | "." | "..") && segment.bytes().all(is_unreserved))
    }
}

/// An operation that an extension registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `resource.verb`, such as `requests.update`; each of letters, digits, `-` and `_`.
    pub name: String,
    /// Whether it changes nothing.
    pub read_only: bool,
}

impl Operation {
    /// An operation that changes nothing.
    #[must_use]
    pub fn read(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            read_only: true,
        }
    }

    /// An operation that may change something.
    #[must_use]
    pub fn write(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            read_only: false,
        }
    }

    /// The last segment of its path: `requests.update` is called as `requests:update`.
    #[must_use]
    pub fn segment(&self) -> String {
        self.name.replacen('.', ":", 1)
    }

    fn has_segment(&self, segment: &str) -> bool {
        let call = segment.split_once(':');
        call.is_some() && call == self.name.split_once('.')
    }

    pub(super) fn name_is_valid(&self) -> bool {
        let is_word = |word: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            !word.is_empty() && word.bytes().all(is_part)
        };
        self.name
            .split_once('.')
            .is_some_and(|(resource, verb)| is_word(resource) && is_word(verb))
    }
}

/// Whether a URI needs no escape for the byte (RFC 3986, §2.3).
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Operations {
        Operations {
            path: path.into(),
            list: vec![
                Operation::read("requests.list"),
                Operation::write("requests.update"),
            ],
        }
    }

    #[test]
    fn an_operation_is_found_by_its_segment() {
        let operations = at("extensions/session-coordination/v1");
        let found = operations.find("requests:update").unwrap();
        assert_eq!(found.name, "requests.update");
        assert!(!found.read_only);
        assert!(operations.find("requests:list").unwrap().read_only);
    }

    #[test]
    fn the_segment_of_an_operation_finds_it() {
        let operations = at("extensions/x/v1");
        for operation in &operations.list {
            assert_eq!(operations.find(&operation.segment()), Some(operation));
        }
    }

    #[test]
    fn no_other_spelling_finds_an_operation() {
        let operations = at("extensions/x/v1");
        for segment in [
            "requests.update",
            "requests:updat",
            "Requests:update",
            "requests",
            ":",
            "",
        ] {
            assert_eq!(operations.find(segment), None, "{segment:?}");
        }
    }

    #[test]
    fn a_path_is_extensions_a_name_and_a_version() {
        assert!(at("extensions/session-coordination/v1").path_is_valid());
        for path in [
            "",
            "extensions",
            "extensions/x",
            "extensions/x/",
            "extensions//v1",
            "/extensions/x/v1",
            "extensions/x/v1/",
            "extensions/x/v1/y",
            "tasks/x/v1",
            "extensions/é/v1",
            "extensions/x:y/v1",
            "extensions/x/..",
            "extensions/./v1",
        ] {
            assert!(!at(path).path_is_valid(), "{path:?}");
        }
    }

    #[test]
    fn a_name_is_a_resource_and_a_verb() {
        assert!(Operation::read("work-streams.get_all2").name_is_valid());
        for name in [
            "",
            "requests",
            "requests.",
            ".update",
            "a.b.c",
            "a:b",
            "a.b/c",
            "a .b",
        ] {
            assert!(!Operation::read(name).name_is_valid(), "{name:?}");
        }
    }
}
