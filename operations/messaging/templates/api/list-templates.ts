import { operation } from '#runtime/operation'
import { listOf, object, paging, queryList, searchText, z } from '#runtime/schema'
import { listTemplates } from '../json.ts'
import { template, templateCategory, templateStatus } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/messaging/templates',
  description: 'List the message templates of the official number, newest first.',
  words: 'approved messages, which templates do I have, rejected, why was it rejected',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  input: {
    query: object({
      ...paging,
      status: queryList(templateStatus, 5).optional().describe('Only templates with one of these states'),
      category: templateCategory.optional().describe('Only templates of this category'),
      language: z
        .string()
        .min(1)
        .max(20)
        .optional()
        .describe('Only templates in this language, such as pt_BR'),
      search: searchText('In name and body', 100),
    }),
  },
  answer: { status: 200, body: listOf(template) },
  handler: (ctx, { query }) => listTemplates(ctx, { ...query, now: ctx.now() }),
})
