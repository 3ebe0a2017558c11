import { optOuts } from '#operations/messaging/index'
import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { optOut, optOutFilters } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/opt-outs',
  description: 'List the phones that no campaign may write to, newest first.',
  details:
    'Automations and single messages ask the same list; approved templates of kind utility go all the same.',
  words: 'who unsubscribed, said stop, do not write, blocked',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  input: {
    query: object({ ...paging, ...optOutFilters }),
  },
  answer: { status: 200, body: listOf(optOut) },
  handler: (ctx, { query }) => optOuts.list(ctx, query),
})
