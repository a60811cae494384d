//! An agent of a2a-protocol-server that opens a task for every message and keeps it in memory.

use std::sync::Arc;

use a2a_protocol_server::{EventEmitter, RequestHandlerBuilder, RestDispatcher, agent_executor, serve};
use a2a_protocol_types::{AgentCard, AgentInterface, AgentSkill, TaskState};

struct Desk;

agent_executor!(Desk, |ctx, queue| async {
    EventEmitter::new(ctx, queue).status(TaskState::Working).await
});

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).ok_or("a port is required")?;
    let url = format!("http://127.0.0.1:{port}");
    let card = AgentCard::new("a2a-protocol-server", "1.0.0", AgentInterface::rest(&url))
        .with_description("Opens a task for every message")
        .with_skill(AgentSkill::new("ask", "Ask", "Takes a question").with_tags(["question"]));
    let handler = Arc::new(RequestHandlerBuilder::new(Desk).with_agent_card(card).build()?);
    serve(format!("127.0.0.1:{port}"), RestDispatcher::new(handler)).await?;
    Ok(())
}
