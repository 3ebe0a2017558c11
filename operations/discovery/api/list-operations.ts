import { refuse } from '#runtime/errors'
import { JsonText, operation } from '#runtime/operation'
import { wholeListOf } from '#runtime/schema'
import { descriptor } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/operations',
  description: 'List the operations that this key may run now, with what each takes.',
  details:
    'Listed is what the scopes of the key, the role of its creator, the plan and the state of the subscription ' +
    'allow; everything else answers 403.',
  words: 'what can I do here, abilities, permissions of this key',
  scopes: [],
  readOnly: true,
  answer: {
    status: 200,
    body: wholeListOf(descriptor),
    description: 'The operations, in the order of the documents.',
  },
  etag: true,
  cache: 'private, no-cache',
  example: {
    answer: {
      data: [
        {
          id: 'delete_stores_team_members_by_userId',
          method: 'DELETE',
          path: '/stores/team/members/:userId',
          description: 'Remove a member of the store.',
          scopes: ['platform:write', 'team:write'],
          readOnly: false,
          pathParameters: [
            {
              name: 'userId',
              description: 'User id of one of the members',
              required: true,
              schema: { type: 'string' },
            },
          ],
          deprecated: null,
        },
      ],
    },
  },
  handler(ctx) {
    const { access } = ctx.actor
    if (!access) throw refuse('unauthorized', 'Only a key has operations to run')
    const operations = ctx.services.catalog.runnable(access, ctx.clock.ms())
    return new JsonText(`{"data":[${operations.join(',')}]}`)
  },
})
