import { optOuts, personAddress } from '#operations/messaging/index'
import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { optOut } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/opt-outs',
  description: 'Opt a phone out: from this answer on no campaign writes to it, one that is sending included.',
  details:
    'Automations, alerts, requests for reviews and single messages are held back too. Still let through are approved templates ' +
    'of kind utility, such as that an order is on its way, and what your team answers in its conversation. ' +
    'A person whose phone is hidden is named by the WhatsApp id that the export of opt-outs shows.',
  words:
    'asked not to be written to any more, never message this number again, stop messages, do not contact, block, unsubscribe somebody',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'messaging',
  input: {
    body: writeBody(
      { phone: personAddress, note: optOut.shape.note },
      ['id', 'source', 'campaignId', 'createdAt', 'updatedAt'],
      ['phone'],
    ),
  },
  answer: { status: 201, body: optOut },
  refuses: { conflict: 'The phone is opted out already' },
  etag: true,
  transaction: 'statement',
  example: { body: { phone: '(11) 98888-7777', note: 'Asked by phone' } },
  handler: (ctx, { body }) => optOuts.addByHand(ctx, body),
})
