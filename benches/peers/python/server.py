"""An agent of a2a-sdk that opens a task for every message and keeps it in memory."""

import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Desk(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(context.current_task or new_task_from_user_message(context.message))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


def main(port):
    url = f"http://127.0.0.1:{port}"
    card = AgentCard(
        name="a2a-sdk",
        description="Opens a task for every message",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="HTTP+JSON", protocol_version="1.0")],
        capabilities=AgentCapabilities(),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="ask", name="Ask", description="Takes a question", tags=["question"])],
    )
    handler = DefaultRequestHandler(agent_executor=Desk(), task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(routes=[*create_agent_card_routes(card), *create_rest_routes(handler)])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


main(int(sys.argv[1]))
