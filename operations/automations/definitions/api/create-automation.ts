import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { automation, automationInput, automationReadOnly } from '../../schema.ts'
import { readAutomation } from '../json.ts'
import { createAutomation, requireKnownReferences } from '../save.ts'

export default operation({
  method: 'POST',
  path: '/automations',
  description: 'Create an automation. It sends once it is active and a number is connected.',
  details:
    'Everything but the type has a default: its usual delay, conditions and quiet hours, and a message in the language of the store. A flow of further steps becomes version 1.',
  words:
    'remind who left without paying, abandoned cart reminder, birthday greeting, welcome, win back, follow up, automatic message',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  transaction: 'own',
  input: { body: writeBody(automationInput, automationReadOnly, ['type']) },
  answer: { status: 201, body: automation },
  refuses: {
    not_found: 'There is no such template',
    conflict:
      'The name is taken, there are 50 automations, or products are named and no platform is connected',
  },
  etag: true,
  example: {
    body: {
      type: 'abandoned-cart',
      isActive: true,
      message: { text: 'Oi {{firstName|cliente}}, seu carrinho espera por você: {{cartUrl}}' },
      flow: {
        start: 'w1',
        steps: [
          { id: 'w1', type: 'wait', minutes: 1440, next: 'pc' },
          { id: 'pc', type: 'purchase-check', ifPurchased: null, ifNot: 'c1' },
          { id: 'c1', type: 'coupon', coupon: { type: 'percentage', value: 10 }, next: 'm2' },
          { id: 'm2', type: 'message', message: { text: 'Use {{couponCode}}' }, next: null },
        ],
      },
    },
  },
  async handler(ctx, { body }) {
    await requireKnownReferences(ctx, null, body)
    return ctx.transaction(async (tx) => readAutomation(tx, await createAutomation(tx, body)))
  },
})
