import { extensions } from '#runtime/extensions'

export default extensions({
  about: [
    'Store, team, subscription, statistics, messaging, automations, campaigns, inbox, reviews, stock, promotions and',
    'the product page of one online store. A key belongs to one store, so no call names a store.',
  ].join('\n'),
  surfaces: {
    // Loaded on demand, because the SDK takes 30 MB and many servers are never used by an assistant.
    '/mcp': { load: async () => (await import('./mcp/server.ts')).answerMcp },
  },
  guides: {
    clients: {
      title: 'Clients',
      summary: 'a typed client in two lines, and generators that read the document',
      file: new URL('CLIENTS.md', import.meta.url),
    },
    assistants: {
      title: 'Assistants',
      summary: 'how Claude, Cursor, VS Code and others are connected to a store, and what they may do there',
      file: new URL('ASSISTANTS.md', import.meta.url),
    },
  },
})
