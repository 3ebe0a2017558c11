import { operation } from '#runtime/operation'
import { readBranding } from '../json.ts'
import { branding } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/store/branding',
  description: "Get the branding of the agency that is shown in this store's dashboard, if there is one.",
  words: 'logo, colours, agency',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: branding },
  etag: true,
  handler: (ctx) => readBranding(ctx),
})
