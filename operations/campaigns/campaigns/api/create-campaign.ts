import { operation } from '#runtime/operation'
import { reference } from '#runtime/references'
import { id, writeBody } from '#runtime/schema'
import { readCampaign } from '../../json.ts'
import { campaign, campaignInput, campaignReadOnly } from '../../schema.ts'
import { createCampaign } from '../drafts.ts'

export default operation({
  method: 'POST',
  path: '/campaigns',
  description: 'Create a draft for a contact list. It sends nothing.',
  details: 'A draft may be unfinished: send and schedule say what is missing.',
  words: 'write a campaign, promo to all clients, blast, bulk message',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: {
    body: writeBody({ ...campaignInput, listId: reference('list', id) }, campaignReadOnly, [
      'name',
      'listId',
    ]),
  },
  answer: { status: 201, body: campaign },
  refuses: { not_found: 'There is no such contact list, or no such template' },
  etag: true,
  example: {
    body: {
      name: 'Black Friday',
      listId: '019a9b1e-5c00-7000-8000-000000000001',
      content: {
        type: 'text',
        text: 'Oi {{firstName|cliente}}, use {{cupom}}',
        optOutText: 'Reply STOP to stop',
      },
      sendWindow: { start: '09:00', end: '18:00' },
    },
  },
  async handler(ctx, { body }) {
    return readCampaign(ctx, await createCampaign(ctx, body))
  },
})
