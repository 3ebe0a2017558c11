import { operation } from '#runtime/operation'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { cancelSending } from '../transitions.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/cancel',
  description: 'Cancel a scheduled, sending or paused campaign for good. What has left stays.',
  words: 'call a campaign off, stop for good',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['final'],
  feature: 'campaigns',
  answer: { status: 200, body: campaign },
  refuses: {
    not_found: 'There is no such campaign',
    conflict: 'It is not scheduled, sending or paused',
  },
  etag: true,
  async handler(ctx, { params }) {
    await cancelSending(ctx, params.id)
    return readCampaign(ctx, params.id)
  },
})
