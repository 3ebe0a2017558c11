import { operation } from '#runtime/operation'
import { deleteTemplate } from '../edit.ts'
import { parseTemplateId } from '../json.ts'

export default operation({
  method: 'DELETE',
  path: '/messaging/templates/:id',
  description: 'Delete a message template in its language, here and at the provider.',
  details: 'The name and language of one that was ever approved are free again after 30 days.',
  words: 'throw a template away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such template', conflict: 'Something uses it' },
  handler: (ctx, { params }) => deleteTemplate(ctx, parseTemplateId(params.id)),
})
