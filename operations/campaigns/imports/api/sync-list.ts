import { operation } from '#runtime/operation'
import { importQueued } from '../../lists/schema.ts'
import { syncList } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/:id/sync',
  description: 'Add the customers who match the filters of a list by now and are not in it.',
  details: 'Nobody is updated or removed; who was removed by hand stays out (`excluded`).',
  words: 'refresh an audience from the platform',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 202, body: importQueued },
  monitor: '/campaigns/lists/:id',
  refuses: {
    not_found: 'No such list',
    conflict:
      'The list is not from the platform, an import is queued or running, or no platform is connected',
  },
  handler: (ctx, { params }) => syncList(ctx, params.id),
})
