import { operation } from '#runtime/operation'
import { parseTemplateId, readTemplate } from '../json.ts'
import { template } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/messaging/templates/:id',
  description: 'Get one message template, with its review and its edits.',
  words: 'one template, why was it rejected, reason',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  answer: { status: 200, body: template },
  refuses: { not_found: 'There is no such template' },
  etag: true,
  handler: (ctx, { params }) => readTemplate(ctx, parseTemplateId(params.id)),
})
