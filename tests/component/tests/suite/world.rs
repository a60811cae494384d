//! What the component asks of its host: nothing, and no more memory than it was given.

use crate::COMPONENT;

#[test]
fn it_imports_nothing() {
    assert_eq!(COMPONENT.imports(), 0);
}
