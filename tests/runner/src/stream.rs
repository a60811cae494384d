//! Reading a stream of server-sent events, one event at a time.

use serde_json::{Map, Value};

/// How many comments in a row are read before an event is given up.
const PATIENCE: usize = 5;

/// The bytes of a stream as they come.
pub trait Chunks {
    /// The next bytes, as soon as there are any; none when the stream has ended.
    ///
    /// # Errors
    /// Why there are none, without an end.
    fn next(&mut self) -> Result<Option<Vec<u8>>, String>;
}

/// An open stream.
pub(crate) struct Reader<'a> {
    chunks: Box<dyn Chunks + 'a>,
    read: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(chunks: Box<dyn Chunks + 'a>) -> Self {
        let read = Vec::new();
        Self { chunks, read }
    }

    /// The next event, `{"id"?, "data"?}`; none when the stream has ended.
    pub(crate) fn event(&mut self) -> Result<Option<Value>, String> {
        for _ in 0..PATIENCE {
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            if let Some(event) = event(&block)? {
                return Ok(Some(event));
            }
        }
        Err("nothing but comments".to_owned())
    }

    /// The lines up to the next empty one.
    fn block(&mut self) -> Result<Option<String>, String> {
        loop {
            if let Some(end) = self.read.windows(2).position(|two| two == b"\n\n") {
                let rest = self.read.split_off(end.saturating_add(2));
                let block = std::mem::replace(&mut self.read, rest);
                return String::from_utf8(block)
                    .map(Some)
                    .map_err(|error| error.to_string());
            }
            match self.chunks.next()? {
                Some(bytes) => self.read.extend(bytes),
                None if self.read.is_empty() => return Ok(None),
                None => return Err("the stream ends within an event".to_owned()),
            }
        }
    }
}

/// A block of lines as an event; none for one of comments.
fn event(block: &str) -> Result<Option<Value>, String> {
    let mut event = Map::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        let value = match line.split_once(": ") {
            Some(("", _)) => continue,
            Some(("id", id)) => ("id", Value::from(id)),
            Some(("data", data)) => {
                let value: Value =
                    serde_json::from_str(data).map_err(|error| format!("data: {error}: {data}"))?;
                // Hosts must agree in every byte.
                let written = value.to_string();
                if written != data {
                    return Err(format!("expected compact JSON, not {data}"));
                }
                ("data", value)
            }
            _ => return Err(format!("expected id or data, not {line:?}")),
        };
        event.insert(value.0.to_owned(), value.1);
    }
    Ok((!event.is_empty()).then_some(Value::Object(event)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Given(Vec<&'static [u8]>);

    impl Chunks for Given {
        fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
            Ok(if self.0.is_empty() {
                None
            } else {
                Some(self.0.remove(0).to_vec())
            })
        }
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let chunks = Given(vec![b": x\n\nid: 7\n", b"data: {\"a\":1}\n", b"\nid: 8\n\n"]);
        let mut reader = Reader::new(Box::new(chunks));
        assert_eq!(reader.event(), Ok(Some(json!({"id": "7", "data": {"a": 1}}))));
        assert_eq!(reader.event(), Ok(Some(json!({"id": "8"}))));
        assert_eq!(reader.event(), Ok(None));
    }

    #[test]
    fn half_an_event_and_endless_comments_are_errors() {
        assert!(Reader::new(Box::new(Given(vec![b"id: 7\n"]))).event().is_err());
        assert!(Reader::new(Box::new(Given(vec![b": x\n\n"; 9]))).event().is_err());
    }
}
