import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { customerFiltersInput } from '../../lists/import-schema.ts'
import { importQueued, listName } from '../../lists/schema.ts'
import { importPlatform } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/import/ecomplatform',
  description: "Create a contact list of the platform's customers who match.",
  words: 'audience of customers who bought often, spent much, have not ordered for long',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: object({ name: listName, filters: customerFiltersInput.default({}) }) },
  answer: { status: 202, body: importQueued },
  monitor: '/campaigns/lists/:listId',
  refuses: { conflict: 'A list has this name already, or no platform is connected' },
  example: { body: { name: 'Recurring customers', filters: { ordersMin: 4, notOrderedForDays: 30 } } },
  handler: (ctx, { body }) => importPlatform(ctx, body),
})
