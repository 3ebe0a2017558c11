import { operation } from '#runtime/operation'
import { readStore } from '../json.ts'
import { store } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/store',
  description: "Get the store's profile: its name, domain, platform, plan and settings.",
  words: 'store record, settings, profile',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: store },
  etag: true,
  handler: (ctx) => readStore(ctx),
})
