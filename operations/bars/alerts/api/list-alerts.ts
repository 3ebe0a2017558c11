import { operation } from '#runtime/operation'
import { wholeListOf } from '#runtime/schema'
import { listAlerts } from '../alerts.ts'
import { fomoAlert } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/fomo-alerts',
  description: 'List the alerts, one for each type; those never created have their defaults and no id.',
  words: 'live popups such as somebody just bought, social proof',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'fomo-alerts',
  answer: { status: 200, body: wholeListOf(fomoAlert) },
  handler: async (ctx) => ({ data: await listAlerts(ctx) }),
})
