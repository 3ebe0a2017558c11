import { operation } from '#runtime/operation'
import { importQueued } from '../../lists/schema.ts'
import { newCsvListBody } from '../csv-schema.ts'
import { importCsv } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists/import/csv',
  description: 'Create a contact list of the rows of a CSV.',
  details:
    'Rows that cannot be imported are listed, with their line, in `import.errors` of the list; the others are added. Without a mapping the columns are found by name: exports of Google Contacts, Outlook, Mailchimp, Klaviyo, Brevo, Shopify, Nuvemshop and Tiendanube, and our own export, go in as they are.',
  words: 'upload phone numbers from a spreadsheet, excel, csv',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: newCsvListBody },
  answer: { status: 202, body: importQueued },
  monitor: '/campaigns/lists/:listId',
  refuses: { conflict: 'A list has this name already' },
  example: {
    body: {
      name: 'Feira de outubro',
      columns: ['Nome', 'WhatsApp', 'Cidade'],
      rows: [['Ana Souza', '(11) 98888-7777', 'Santos']],
    },
  },
  handler: (ctx, { body }) => importCsv(ctx, body),
})
