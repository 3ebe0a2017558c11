import { operation } from '#runtime/operation'
import { object, z } from '#runtime/schema'
import { readConversation } from '../../conversations/json.ts'
import { conversation } from '../../schema.ts'
import { setTier } from '../manual-tier.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/tier',
  description: "Set the contact's tier by hand, or have it computed again.",
  words: 'make this customer gold, VIP by hand',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ tier: z.string().min(1).max(30).nullable().describe('null: the automatic one') }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await setTier(ctx, params.id, body.tier)
    return readConversation(ctx, params.id)
  },
})
