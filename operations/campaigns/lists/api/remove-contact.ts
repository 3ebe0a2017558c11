import { operation } from '#runtime/operation'
import { removeContact } from '../contacts.ts'

export default operation({
  method: 'DELETE',
  path: '/campaigns/lists/:id/contacts/:contactId',
  description: 'Remove a contact from a list.',
  details:
    'From a list of the platform the phone stays out at later syncs. A campaign that has begun still writes to it.',
  words: 'take one person out of an audience',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 204 },
  refuses: { not_found: 'No such list, or no such contact in it' },
  handler: (ctx, { params }) => removeContact(ctx, params.id, params.contactId),
})
