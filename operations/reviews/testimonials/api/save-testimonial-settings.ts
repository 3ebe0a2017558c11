import { operation } from '#runtime/operation'
import { testimonialSettings, testimonialSettingsInput } from '../schema.ts'
import { testimonialWidget } from '../settings.ts'

export default operation({
  method: 'PUT',
  path: '/store-testimonials/settings',
  description: 'Change how the testimonials look and where they show. Fields left out keep their value.',
  words: 'how quotes look on the site',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'testimonials',
  input: { body: testimonialSettingsInput },
  answer: { status: 200, body: testimonialSettings },
  example: { body: { isEnabled: true, layout: 'grid', pages: ['home', 'product'] } },
  handler: (ctx, { body }) => testimonialWidget.save(ctx, body),
})
