import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { readCampaign } from '../../json.ts'
import { campaign, campaignInput, campaignReadOnly } from '../../schema.ts'
import { updateCampaign } from '../drafts.ts'

export default operation({
  method: 'PUT',
  path: '/campaigns/:id',
  description:
    'Change a draft, or a scheduled or failed campaign, which becomes a draft again. Fields left out keep their value.',
  details: 'A body that changes nothing keeps the schedule. Schedule or send a changed campaign again.',
  words: 'rewrite a campaign that is a draft, take back a schedule, correct a typo',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: writeBody(campaignInput, campaignReadOnly) },
  answer: { status: 200, body: campaign },
  refuses: {
    not_found: 'There is no such campaign, contact list or template',
    conflict: 'It is or was sending, or was cancelled: duplicate it instead',
  },
  etag: true,
  example: { body: { name: 'Black Friday, last day', sendWindow: null } },
  async handler(ctx, { params, body }) {
    await updateCampaign(ctx, params.id, body)
    return readCampaign(ctx, params.id)
  },
})
