import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued, object, queryFlag } from '#runtime/schema'
import { contactsExport } from '../../handles.ts'
import { contactSearch } from '../contact-schema.ts'
import { requireList } from '../contacts.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/lists/:id/contacts/export',
  description: 'Email the contacts of a list as a CSV file to the member whose key asks.',
  details: 'The file can be imported again without change.',
  words: 'contacts of a list as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: {
    query: object({
      search: contactSearch,
      optedOut: queryFlag.optional().describe('true: only contacts who opted out; false: only the others'),
      ...exportOptions,
    }),
  },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  refuses: { not_found: 'No such list' },
  async handler(ctx, { params, query }) {
    await requireList(ctx, params.id)
    return exports.start(ctx, contactsExport, { listId: params.id, ...query })
  },
})
