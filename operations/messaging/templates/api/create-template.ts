import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createTemplate } from '../create.ts'
import { readTemplate } from '../json.ts'
import { template, templateInput, templateReadOnly } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates',
  description: 'Create a message template and submit it for review by the provider.',
  details: 'Nothing is kept when the provider does not take it. It can be sent once it is approved.',
  words: 'write a template, new message for approval',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  input: { body: writeBody(templateInput, templateReadOnly, ['name', 'language', 'category', 'body']) },
  answer: { status: 201, body: template },
  refuses: {
    conflict:
      'No official number is connected, the name is taken or not free yet, or there are too many templates',
  },
  etag: true,
  example: {
    body: {
      name: 'order_shipped',
      language: 'pt_BR',
      category: 'utility',
      body: 'Oi {{1}}, o pedido {{2}} saiu hoje.',
      buttons: [{ type: 'url', text: 'Acompanhar', url: 'https://aurora.example/track/{{1}}' }],
      examples: { body: ['Ana', '9412'], buttons: ['AU941200BR'] },
    },
  },
  async handler(ctx, { body }) {
    return readTemplate(ctx, await createTemplate(ctx, body))
  },
})
