import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { automation, automationInput, automationReadOnly } from '../../schema.ts'
import { readAutomation } from '../json.ts'
import { requireKnownReferences, updateAutomation } from '../save.ts'

export default operation({
  method: 'PUT',
  path: '/automations/:id',
  description: 'Change an automation, its active state or its flow. Fields left out keep their value.',
  details:
    'A changed flow is a new version; runs under way keep theirs. The first message, its coupon, quiet hours, cooldown and skipIfPurchased hold for whatever has not left; the delay and the other conditions for new runs. Turned off, what falls due meanwhile is skipped.',
  words: 'change, turn on or turn off an automatic message',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  transaction: 'own',
  input: { body: writeBody(automationInput, automationReadOnly) },
  answer: { status: 200, body: automation },
  refuses: {
    not_found: 'There is no such automation, or no such template',
    conflict: 'The name is taken, or products are named and no platform is connected',
  },
  etag: true,
  example: { body: { isActive: true, delayMinutes: 90 } },
  async handler(ctx, { params, body }) {
    await requireKnownReferences(ctx, params.id, body)
    return ctx.transaction(async (tx) => {
      await updateAutomation(tx, params.id, body)
      return readAutomation(tx, params.id)
    })
  },
})
