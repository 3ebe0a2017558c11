import { operation } from '#runtime/operation'
import { readStoreRecord } from '../json.ts'
import { storeRecord } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/store/information',
  description: "Get the store's record: settings at the top level, and its connections.",
  details: 'Credentials of connections are never answered.',
  words: 'store details, address, currency, time zone, locale',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: storeRecord },
  etag: true,
  handler: (ctx) => readStoreRecord(ctx),
})
