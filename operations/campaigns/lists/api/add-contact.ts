import { operation } from '#runtime/operation'
import { contact, newContactBody } from '../contact-schema.ts'
import { addContact } from '../contacts.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/:id/contacts',
  description: 'Add a contact to a list by hand.',
  details: 'A phone that was removed from a list of the platform may be added again: syncs keep it then.',
  words: 'add one person to an audience',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: newContactBody },
  answer: { status: 201, body: contact },
  refuses: { not_found: 'No such list', conflict: 'The phone is in the list already, or the list is full' },
  etag: true,
  example: {
    body: {
      phone: '(11) 98888-7777',
      name: 'Ana Souza',
      email: 'ana@example.com',
      customFields: { cidade: 'Santos' },
    },
  },
  handler: (ctx, { params, body }) => addContact(ctx, params.id, body),
})
