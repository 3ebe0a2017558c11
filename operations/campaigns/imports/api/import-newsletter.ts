import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { newsletterFiltersInput } from '../../lists/import-schema.ts'
import { importQueued, listName } from '../../lists/schema.ts'
import { importNewsletter } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/import/newsletter',
  description: 'Create a contact list of the popup subscribers who gave their phone and consent for it.',
  words: 'audience of popup subscribers',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: object({ name: listName, filters: newsletterFiltersInput.default({}) }) },
  answer: { status: 202, body: importQueued },
  monitor: '/campaigns/lists/:listId',
  refuses: { conflict: 'A list has this name already' },
  example: { body: { name: 'Popup of November', filters: { subscribedFrom: '2026-11-01' } } },
  handler: (ctx, { body }) => importNewsletter(ctx, body),
})
