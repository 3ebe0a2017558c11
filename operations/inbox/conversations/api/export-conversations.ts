import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued, object } from '#runtime/schema'
import { inboxExport } from '../../handles.ts'
import { conversationFilters } from '../list-schema.ts'

export default operation({
  method: 'GET',
  path: '/inbox/export',
  description: 'Email the conversations as CSV, with the filters of the list.',
  words: 'chats as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  input: { query: object({ ...conversationFilters, ...exportOptions }) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, inboxExport, query),
})
