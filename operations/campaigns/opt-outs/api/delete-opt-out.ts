import { optOuts } from '#operations/messaging/index'
import { operation } from '#runtime/operation'

export default operation({
  method: 'DELETE',
  path: '/campaigns/opt-outs/:phone',
  description: 'Take a phone off the opt-outs, so that campaigns may write to it again.',
  details:
    'The phone may be written in any form, with %2B for its plus or without, or be the WhatsApp id that the list shows. What a campaign skipped stays skipped.',
  words: 'may be written to again, wants messages again',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'messaging',
  answer: { status: 204 },
  refuses: { not_found: 'The phone is not opted out' },
  transaction: 'statement',
  example: { params: { phone: '+5511988887777' } },
  handler: (ctx, { params }) => optOuts.remove(ctx, params.phone),
})
