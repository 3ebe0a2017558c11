import { operation } from '#runtime/operation'
import { readAlert, readAlertById, updateAlert } from '../alerts.ts'
import { changedAlert, fomoAlert } from '../schema.ts'

export default operation({
  method: 'PUT',
  path: '/fomo-alerts/update',
  description: 'Change an alert; the storefront shows it at once. Fields left out keep their value.',
  details: 'Its type stays. There is no delete: turn it off with `isEnabled`.',
  words: 'change a live alert, show how many people look at the product now',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'fomo-alerts',
  input: { body: changedAlert },
  answer: { status: 200, body: fomoAlert },
  refuses: {
    not_found: 'There is no such alert',
    conflict: 'A product is newly excluded, and no platform is connected to check it',
    unavailable: 'A product is newly excluded, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readAlertById(ctx, body.id) },
  example: { body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', isEnabled: false } },
  async handler(ctx, { body }) {
    const { id, ...change } = body
    return readAlert(ctx, await updateAlert(ctx, id, change))
  },
})
