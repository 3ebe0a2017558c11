import { operation } from '#runtime/operation'
import { readAlert } from '../alerts.ts'
import { fomoAlert } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/fomo-alerts/:alertType',
  description: 'Get the alert of one type; its defaults, without an id, until it is created.',
  words: 'one kind of live alert',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'fomo-alerts',
  input: { params: { alertType: 'Such as recent-purchases' } },
  answer: { status: 200, body: fomoAlert },
  refuses: { not_found: 'There is no such type' },
  etag: true,
  example: { params: { alertType: 'recent-purchases' } },
  handler: (ctx, { params }) => readAlert(ctx, params.alertType),
})
