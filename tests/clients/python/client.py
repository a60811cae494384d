"""The official Python client, driven by JSON lines.

Each line of the input is a call, {"n", "client", "do", ...}; each line of the output answers one: {"n", "result"} or
{"n", "error"}, and where it streams {"n", "event"} as often as there are any, then {"n", "ends"}.
"""

import asyncio
import json
import sys

import httpx

from a2a.client.auth.credentials import CredentialService
from a2a.client.auth.interceptor import AuthInterceptor
from a2a.client.client import ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as a2a
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict, ParseDict


class Token(CredentialService):
    """The one credential that there is, whatever the card's scheme is called."""

    def __init__(self, token):
        self.token = token

    async def get_credentials(self, security_scheme_name, context):
        return self.token


class Opened:
    """A client of each way to send: the SDK chooses between them by its configuration."""

    def __init__(self, http, whole, streaming, extensions):
        self.http = http
        self.whole = whole
        self.streaming = streaming
        self.extensions = extensions

    def context(self):
        parameters = ServiceParametersFactory.create([with_a2a_extensions(self.extensions)])
        return ClientCallContext(service_parameters=parameters)


async def open_client(call):
    http = httpx.AsyncClient(timeout=30, trust_env=False)

    async def made(streaming):
        config = ClientConfig(
            streaming=streaming, httpx_client=http, supported_protocol_bindings=[call['binding']]
        )
        return await ClientFactory(config).create_from_url(
            call['url'], interceptors=[AuthInterceptor(Token(call['token']))]
        )

    return Opened(http, await made(False), await made(True), call['extensions'])


async def answer(opened, call):
    """The one answer to a call."""
    params, context = call['params'], opened.context()
    match call['do']:
        case 'send':
            request = ParseDict(params, a2a.SendMessageRequest())
            async for response in opened.whole.send_message(request, context=context):
                return response
        case 'get':
            return await opened.whole.get_task(ParseDict(params, a2a.GetTaskRequest()), context=context)
        case 'list':
            return await opened.whole.list_tasks(ParseDict(params, a2a.ListTasksRequest()), context=context)
        case 'cancel':
            return await opened.whole.cancel_task(ParseDict(params, a2a.CancelTaskRequest()), context=context)
        case 'create config':
            request = ParseDict(params, a2a.TaskPushNotificationConfig())
            return await opened.whole.create_task_push_notification_config(request, context=context)
        case 'get config':
            request = ParseDict(params, a2a.GetTaskPushNotificationConfigRequest())
            return await opened.whole.get_task_push_notification_config(request, context=context)
        case 'list configs':
            request = ParseDict(params, a2a.ListTaskPushNotificationConfigsRequest())
            return await opened.whole.list_task_push_notification_configs(request, context=context)
        case 'delete config':
            request = ParseDict(params, a2a.DeleteTaskPushNotificationConfigRequest())
            await opened.whole.delete_task_push_notification_config(request, context=context)
            return Empty()
    raise ValueError(f'no such call: {call["do"]}')


def events(opened, call):
    """The events that a call is answered with."""
    params, context = call['params'], opened.context()
    if call['do'] == 'stream':
        return opened.streaming.send_message(ParseDict(params, a2a.SendMessageRequest()), context=context)
    return opened.streaming.subscribe(ParseDict(params, a2a.SubscribeToTaskRequest()), context=context)


def say(**line):
    print(json.dumps(line), flush=True)


async def do(clients, call):
    number = call['n']
    try:
        if call['do'] == 'open':
            clients[call['client']] = await open_client(call)
            say(n=number, result={})
        elif call['do'] in ('stream', 'subscribe'):
            async for event in events(clients[call['client']], call):
                say(n=number, event=MessageToDict(event))
            say(n=number, ends=True)
        else:
            say(n=number, result=MessageToDict(await answer(clients[call['client']], call)))
    except Exception as error:  # whatever it is, the test is to read it
        say(n=number, error=type(error).__name__, why=str(error))


async def main():
    clients, running = {}, set()
    lines = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        task = asyncio.create_task(do(clients, json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    for opened in clients.values():
        await opened.http.aclose()


asyncio.run(main())
