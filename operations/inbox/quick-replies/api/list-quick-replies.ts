import { operation } from '#runtime/operation'
import { object, searchText, wholeListOf, z } from '#runtime/schema'
import { listQuickReplies, quickReplyWithText } from '../quick-replies.ts'

export default operation({
  method: 'GET',
  path: '/inbox/quick-replies',
  description: 'List the quick replies, filled for the contact of a conversation where one is named.',
  words: 'saved answers, canned texts',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: {
    query: object({
      search: searchText('In shortcut, title and text', 100),
      conversationId: z
        .string()
        .max(100)
        .optional()
        .describe('The conversation whose values fill the placeholders'),
    }),
  },
  answer: { status: 200, body: wholeListOf(quickReplyWithText) },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { query }) => listQuickReplies(ctx, query),
})
