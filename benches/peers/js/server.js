// An agent of @a2a-js/sdk that opens a task for every message and keeps it in memory.

import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

const port = Number(process.argv[2]);
const card = {
  name: '@a2a-js/sdk',
  description: 'Opens a task for every message',
  version: '1.0.0',
  supportedInterfaces: [{ url: `http://127.0.0.1:${port}`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: false, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'ask', name: 'Ask', description: 'Takes a question', tags: ['question'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};

const desk = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = { state: 1, timestamp: new Date().toISOString() };
    bus.publish({ kind: 'task', data: { id: taskId, contextId, status, history: [userMessage], artifacts: [] } });
    bus.finished();
  },
  async cancelTask() {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), desk);
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use(restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1');
