import { operation, z } from '#runtime/operation'
import { count, id, object, wholeListOf } from '#runtime/schema'
import { listMembers } from '../assignees.ts'

export default operation({
  method: 'GET',
  path: '/inbox/members',
  description: 'List the members a conversation can be given to, each with how many open ones they have.',
  words: 'who can take chats, agents',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  answer: {
    status: 200,
    body: wholeListOf(
      object({
        userId: id,
        name: z.string(),
        email: z.string(),
        role: z.enum(['owner', 'member', 'agent']),
        openConversations: count,
      }),
    ),
  },
  handler: listMembers,
})
