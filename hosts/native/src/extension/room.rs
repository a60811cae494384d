//! How much memory a call has.

use wasmtime::ResourceLimiter;

/// How many bytes an entry of a table takes.
const ENTRY: usize = size_of::<usize>();

/// The memory of one call: its linear memories and tables together.
pub(super) struct Room {
    left: usize,
    exceeded: bool,
}

impl Room {
    pub(super) const fn of_mib(mib: u32) -> Self {
        Self {
            left: (mib as usize).saturating_mul(1024 * 1024),
            exceeded: false,
        }
    }

    /// Whether more was asked for than there is.
    pub(super) const fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.exceeded = true,
        }
        !self.exceeded
    }
}

impl ResourceLimiter for Room {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.take(desired.saturating_sub(current)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let entries = desired.saturating_sub(current);
        Ok(self.take(entries.saturating_mul(ENTRY)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn memories_and_tables_share_the_room_to_its_last_byte() {
        let mut room = Room::of_mib(2);
        assert!(room.memory_growing(0, MIB, None).unwrap());
        assert!(room.memory_growing(MIB, 2 * MIB - 8 * ENTRY, None).unwrap());
        assert!(room.table_growing(2, 10, None).unwrap());
        assert!(!room.is_exceeded());
        assert!(!room.table_growing(10, 11, None).unwrap());
        assert!(room.is_exceeded());
    }

    #[test]
    fn one_byte_more_is_too_much() {
        assert!(Room::of_mib(1).memory_growing(0, MIB, None).unwrap());
        assert!(!Room::of_mib(1).memory_growing(0, MIB + 1, None).unwrap());
    }
}
