import { operation } from '#runtime/operation'
import { readOfficial } from '../read.ts'
import { officialConnection } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/officialapi/status',
  description: "Read the official number's status, as the provider last reported it.",
  words: 'is the official number connected, its state',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  answer: { status: 200, body: officialConnection },
  etag: true,
  handler: (ctx) => readOfficial(ctx),
})
