// The official JavaScript client, driven by JSON lines.
//
// Each line of the input is a call, {"n", "client", "do", ...}; each line of the output answers one: {"n", "result"} or
// {"n", "error"}, and where it streams {"n", "event"} as often as there are any, then {"n", "ends"}.

import { createInterface } from 'node:readline';
import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  createAuthenticatingFetchWithRetry,
  withA2AExtensions,
} from '@a2a-js/sdk/client';

const clients = new Map();

async function open({ url, binding, token, extensions }) {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    shouldRetryWithHeaders: async () => undefined,
  });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
  });
  const client = await factory.createFromUrl(url);
  if (client.transport.protocolName !== binding) {
    throw new Error(`expected ${binding}, not ${client.transport.protocolName}`);
  }
  const options = () => ({ serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) });
  return { client, options };
}

/** The one answer to a call. */
async function answer({ client, options }, call) {
  const { params } = call;
  switch (call.do) {
    case 'send': {
      const sent = await client.sendMessage(SendMessageRequest.fromJSON(params), options());
      return 'messageId' in sent ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) };
    }
    case 'get':
      return Task.toJSON(await client.getTask(GetTaskRequest.fromJSON(params), options()));
    case 'list':
      return ListTasksResponse.toJSON(await client.listTasks(ListTasksRequest.fromJSON(params), options()));
    case 'cancel':
      return Task.toJSON(await client.cancelTask(CancelTaskRequest.fromJSON(params), options()));
    case 'create config': {
      const config = TaskPushNotificationConfig.fromJSON(params);
      return TaskPushNotificationConfig.toJSON(await client.createTaskPushNotificationConfig(config, options()));
    }
    case 'get config': {
      const request = GetTaskPushNotificationConfigRequest.fromJSON(params);
      return TaskPushNotificationConfig.toJSON(await client.getTaskPushNotificationConfig(request, options()));
    }
    case 'list configs': {
      const request = ListTaskPushNotificationConfigsRequest.fromJSON(params);
      const page = await client.listTaskPushNotificationConfig(request, options());
      return ListTaskPushNotificationConfigsResponse.toJSON(page);
    }
    case 'delete config': {
      const request = DeleteTaskPushNotificationConfigRequest.fromJSON(params);
      await client.deleteTaskPushNotificationConfig(request, options());
      return {};
    }
    default:
      throw new Error(`no such call: ${call.do}`);
  }
}

/** The events that a call is answered with. */
function events({ client, options }, { do: what, params }) {
  return what === 'stream'
    ? client.sendMessageStream(SendMessageRequest.fromJSON(params), options())
    : client.resubscribeTask(SubscribeToTaskRequest.fromJSON(params), options());
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function perform(call) {
  const { n } = call;
  try {
    if (call.do === 'open') {
      clients.set(call.client, await open(call));
      say({ n, result: {} });
    } else if (call.do === 'stream' || call.do === 'subscribe') {
      for await (const event of events(clients.get(call.client), call)) {
        say({ n, event: StreamResponse.toJSON(event) });
      }
      say({ n, ends: true });
    } else {
      say({ n, result: await answer(clients.get(call.client), call) });
    }
  } catch (error) {
    say({ n, error: error.constructor.name, why: String(error) });
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => void perform(JSON.parse(line)))
  .on('close', () => process.exit(0));
