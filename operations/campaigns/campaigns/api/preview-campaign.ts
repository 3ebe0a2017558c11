import { operation } from '#runtime/operation'
import { id, object } from '#runtime/schema'
import { campaignPreview } from '../../schema.ts'
import { previewCampaign } from '../preview.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/:id/preview',
  description: 'The message of a campaign as one contact would get it.',
  details:
    'Rendered for the contact given, else for the oldest of the list, else for a made-up one. missingVariables names those without a value and a fallback.',
  words: 'how will the campaign look, before it is sent',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  input: { query: object({ contactId: id.optional().describe('A contact of its list') }) },
  answer: { status: 200, body: campaignPreview },
  refuses: {
    not_found: 'There is no such campaign, or no such contact in its list',
    conflict: 'It has no text or template yet',
  },
  handler: (ctx, { params, query }) => previewCampaign(ctx, params.id, query.contactId),
})
