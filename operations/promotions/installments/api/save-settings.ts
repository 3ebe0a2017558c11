import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { installmentSettings, installmentSettingsInput } from '../schema.ts'
import { installmentWidget } from '../settings.ts'

export default operation({
  method: 'PUT',
  path: '/installments/settings',
  description: 'Change how the storefront presents installments; shoppers see it at once.',
  details: 'What is left out keeps its value. They are read with GET /installments.',
  words: 'how instalments are shown on the site',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'installments',
  input: { body: writeBody(installmentSettingsInput, ['updatedAt']) },
  answer: { status: 200, body: installmentSettings },
  etag: true,
  ifMatch: { read: installmentWidget.read },
  example: { body: { interestFreeText: '{{installments}}x de {{amount}} sem juros' } },
  handler: (ctx, { body }) => installmentWidget.save(ctx, body),
})
