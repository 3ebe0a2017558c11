import { operation } from '#runtime/operation'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { duplicateCampaign } from '../drafts.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/duplicate',
  description: 'Duplicate a campaign, whatever its state, into a new draft: same list, content and window.',
  words: "copy a campaign, use last year's again",
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 201, body: campaign },
  refuses: { not_found: 'There is no such campaign' },
  etag: true,
  async handler(ctx, { params }) {
    return readCampaign(ctx, await duplicateCampaign(ctx, params.id))
  },
})
