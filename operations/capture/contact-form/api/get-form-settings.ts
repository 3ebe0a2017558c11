import { operation } from '#runtime/operation'
import { formSettings } from '../form-schema.ts'
import { contactForm } from '../form-settings.ts'

export default operation({
  method: 'GET',
  path: '/contact-form/settings',
  description: 'Read the settings of the contact form; its defaults when it was never saved.',
  words: 'contact form, how is it set up',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'contact-form',
  answer: { status: 200, body: formSettings },
  etag: true,
  handler: (ctx) => contactForm.read(ctx),
})
