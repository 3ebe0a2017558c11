import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { flowVersion } from '../../schema.ts'
import { listVersions } from '../versions.ts'

export default operation({
  method: 'GET',
  path: '/automations/:automationId/flow/versions',
  description: 'List the saved versions of the flow of an automation, newest first.',
  details: 'To restore one, send its flow by PUT: that makes a new version.',
  words: 'earlier versions of the flow',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  input: { query: object(paging) },
  answer: { status: 200, body: listOf(flowVersion) },
  refuses: { not_found: 'There is no such automation' },
  handler: (ctx, { params, query }) => listVersions(ctx, params.automationId, query),
})
