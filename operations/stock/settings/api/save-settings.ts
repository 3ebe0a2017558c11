import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { alertInput, alertReadOnly, stockAlertSettings } from '../schema.ts'
import { alertSettings } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/stock-notifications/settings',
  description: "Change the settings of stock alerts and have the platform's webhook of stock registered.",
  details:
    'Fields left out keep their value, within templateEmail too. Texts are kept to the letter: null stands for the built-in text, an empty one shows nothing. The webhook is registered first: when the platform does not answer, nothing is saved. Turning alerts on also finds stock that returned while they were off.',
  words: 'tell people when a product is back, back in stock',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'stock-alerts',
  transaction: 'own',
  input: { body: writeBody(alertInput, alertReadOnly) },
  answer: { status: 200, body: stockAlertSettings },
  refuses: { conflict: 'The store is not connected to an ecommerce platform' },
  etag: true,
  example: { body: { isEnabled: true, templateEmail: { subject: '{{productName}} is back' } } },
  handler: (ctx, { body }) => alertSettings.save(ctx, body),
})
