import { operation } from '#runtime/operation'
import { queued } from '#runtime/schema'
import { startRecalculation } from '../segments.ts'

export default operation({
  method: 'POST',
  path: '/inbox/segments/recalculate',
  description: "Recalculate every contact's tier from the orders.",
  details: 'The status of the inbox shows how far it is; a notification reports its end.',
  words: 'work out customer tiers again',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  answer: { status: 202, body: queued({}) },
  monitor: '/inbox/status',
  refuses: { conflict: 'A run is queued or running' },
  handler: (ctx) => startRecalculation(ctx),
})
