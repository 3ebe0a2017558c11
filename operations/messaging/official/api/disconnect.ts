import { operation } from '#runtime/operation'
import { disconnectOfficial } from '../disconnect.ts'
import { readOfficial } from '../read.ts'
import { officialConnection } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/officialapi/disconnect',
  description: 'Disconnect the official number: its access is destroyed and its templates are deleted.',
  details:
    'Pending messages wait for a connection. After you connect again, templates must be created and approved again.',
  words: 'take the official number off',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  consequences: ['deletion'],
  feature: 'messaging',
  answer: { status: 200, body: officialConnection },
  refuses: { conflict: 'There is no official number' },
  etag: true,
  ifMatch: ['/officialapi/status'],
  async handler(ctx) {
    await disconnectOfficial(ctx)
    return readOfficial(ctx)
  },
})
