import { operation } from '#runtime/operation'
import { importQueued } from '../../lists/schema.ts'
import { csvBody } from '../csv-schema.ts'
import { importCsvInto } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/:id/import/csv',
  description: 'Add the rows of a CSV to a contact list.',
  details:
    'Rows that cannot be imported are listed, with their line, in `import.errors` of the list; the others are added. Without a mapping the columns are found by name: exports of Google Contacts, Outlook, Mailchimp, Klaviyo, Brevo, Shopify, Nuvemshop and Tiendanube, and our own export, go in as they are.',
  words: 'upload more phone numbers into a list, excel',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: csvBody },
  answer: { status: 202, body: importQueued },
  monitor: '/campaigns/lists/:id',
  refuses: { not_found: 'No such list', conflict: 'An import of this list is queued or running' },
  example: {
    body: {
      columns: ['Cliente', 'Contato', 'Cidade'],
      rows: [['Ana Souza', '(11) 98888-7777', 'Santos']],
      mapping: { phone: 'Contato', name: 'Cliente', customFields: { cidade: 'Cidade' } },
    },
  },
  handler: (ctx, { params, body }) => importCsvInto(ctx, params.id, body),
})
