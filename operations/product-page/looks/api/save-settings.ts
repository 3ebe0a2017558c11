import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { lookSettings, lookSettingsInput } from '../schema.ts'
import { lookWidget } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/shop-the-look/settings',
  description: 'Change how the storefront shows looks, and the sections of its home page.',
  details: 'What is left out keeps its value; `homeSections` is replaced whole, in the order given.',
  words: 'how outfits are shown, sections of the home page with outfits',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'shop-the-look',
  input: { body: writeBody(lookSettingsInput, ['updatedAt']) },
  answer: { status: 200, body: lookSettings },
  etag: true,
  example: { body: { isEnabled: true, title: 'Complete o look', unavailableItems: 'show-sold-out' } },
  handler: (ctx, { body }) => lookWidget.save(ctx, body),
})
