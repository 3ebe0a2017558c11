import { operation } from '#runtime/operation'
import { moment, object } from '#runtime/schema'
import { campaignStart } from '../../handles.ts'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { parseScheduledAt } from '../../sending/times.ts'
import { scheduleSending } from '../transitions.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/schedule',
  description: 'Schedule a campaign for a day and time, or move its schedule.',
  details:
    "A time without Z or an offset is the store's wall clock. It starts within 60 seconds of its time.",
  words: 'send it later, tomorrow at nine, at a date, plan a blast',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/campaigns/:id', '/campaigns/:id/preview', '/subscription/usage'],
  feature: 'campaigns',
  input: {
    body: object({ scheduledAt: moment }),
  },
  answer: { status: 200, body: campaign },
  refuses: {
    not_found: 'There is no such campaign',
    conflict:
      'It is sending or was sent, its list is gone, its content is unfinished, or nothing can carry it',
  },
  etag: true,
  example: { body: { scheduledAt: '2026-12-01T10:00' } },
  async handler(ctx, { params, body }) {
    const at = parseScheduledAt(body.scheduledAt, ctx.store.timezone, ctx.now())
    await scheduleSending(ctx, params.id, at)
    await ctx.queue(campaignStart, { campaignId: params.id, scheduledAt: at.toISOString() }, { at })
    return readCampaign(ctx, params.id)
  },
})
