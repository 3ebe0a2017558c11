import { operation, z } from '#runtime/operation'
import { id, object, queued } from '#runtime/schema'
import { stockAlertSend } from '../../handles.ts'
import { claimSingle } from '../send-single.ts'

export default operation({
  method: 'POST',
  path: '/stock-notifications/send-single/:notificationId',
  description: 'Send the alert of one subscription now, whatever the stock is.',
  details:
    "For who waits, or whose alert failed. The merchant's own decision: the threshold, the waves and turned-off alerts do not hold it back.",
  words: 'tell this one person that the product is back',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/stock-notifications/:notificationId'],
  feature: 'stock-alerts',
  input: { body: object({}).optional() },
  answer: {
    status: 202,
    body: queued({
      notificationId: id,
      inStock: z
        .boolean()
        .nullable()
        .describe('As the catalog shows it; null when it does not know the variant'),
    }),
  },
  monitor: '/stock-notifications/:notificationId',
  refuses: {
    not_found: 'There is no such subscription',
    conflict:
      'It is on its way, was sent or cancelled, its channel is not allowed, or nothing can carry it to the phone',
    forbidden: 'No message is left in the cycle',
  },
  example: { body: {} },
  async handler(ctx, { params }) {
    const { claimId, inStock } = await claimSingle(ctx, params.notificationId)
    const job = await ctx.queue(stockAlertSend, { claimId, tries: 0 })
    return { ...job, notificationId: params.notificationId, inStock }
  },
})
