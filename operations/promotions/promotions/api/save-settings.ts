import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { promotionSettings, promotionSettingsInput, promotionWidget } from '../settings.ts'

export default operation({
  method: 'PUT',
  path: '/promotions/settings',
  description: 'Change how the storefront presents promotions; shoppers see it at once.',
  details: 'What is left out keeps its value.',
  words: 'change how deals are shown',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'promotions',
  input: { body: writeBody(promotionSettingsInput, ['updatedAt']) },
  answer: { status: 200, body: promotionSettings },
  etag: true,
  example: { body: { productPageText: 'Leve {{buy}}, pague {{pay}}', showCountdown: true } },
  handler: (ctx, { body }) => promotionWidget.save(ctx, body),
})
