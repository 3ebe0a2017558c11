import { wiring } from '#runtime/wiring'

export default wiring({
  guides: {
    clients: {
      title: 'Clients',
      summary: 'a typed client in two lines, and how the usual tools take the document',
      file: new URL('CLIENTS.md', import.meta.url),
    },
    assistants: {
      title: 'Assistants',
      summary: 'how Claude, Cursor, VS Code and others are connected to a store, and what they may do there',
      file: new URL('ASSISTANTS.md', import.meta.url),
    },
  },
})
