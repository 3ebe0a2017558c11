import { operation } from '#runtime/operation'
import { createQuickReply, quickReply, quickReplyInput } from '../quick-replies.ts'

export default operation({
  method: 'POST',
  path: '/inbox/quick-replies',
  description: 'Keep an answer that is given often, with variables of the contact and their newest order.',
  details:
    'Variables: customerName, firstName, phone, agentName, storeName, storeUrl, orderNumber, orderTotal, orderStatus, trackingCode, trackingUrl. A fallback follows a bar: `{{firstName|there}}`.',
  words: 'save an answer I always type, canned text, snippet',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: quickReplyInput },
  answer: { status: 201, body: quickReply },
  refuses: { conflict: 'The shortcut is taken, or there are 200 already' },
  example: { body: { shortcut: 'frete', text: 'Hi {{firstName|there}}, your parcel: {{trackingUrl}}' } },
  handler: (ctx, { body }) => createQuickReply(ctx, body),
})
