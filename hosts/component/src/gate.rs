//! Interface `gate`.

use a2a_edge::dispatch::gate;

use crate::Core;
use crate::bindings::exports::a2a_edge::core::gate::Guest;

impl Guest for Core {
    fn is_gate_data_json(data: String) -> String {
        gate::is_gate_data_json(&data)
    }

    fn sentence(gate_type: String) -> String {
        gate::sentence(&gate_type).to_owned()
    }
}
