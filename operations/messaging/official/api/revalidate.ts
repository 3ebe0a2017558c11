import { operation } from '#runtime/operation'
import { readOfficial } from '../read.ts'
import { revalidate } from '../revalidate.ts'
import { officialConnection } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/officialapi/revalidate',
  description: "Ask the provider for the official number's status now, and store its answer.",
  words: 'repair the official number, check its credentials again',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  answer: { status: 200, body: officialConnection },
  refuses: { conflict: 'No official number was connected' },
  etag: true,
  ifMatch: ['/officialapi/status'],
  async handler(ctx) {
    await revalidate(ctx)
    return readOfficial(ctx)
  },
})
