import { operation } from '#runtime/operation'
import { formInput, formSettings } from '../form-schema.ts'
import { contactForm } from '../form-settings.ts'

export default operation({
  method: 'PUT',
  path: '/contact-form/settings',
  description: 'Change the contact form; the storefront shows it at once. Fields left out keep their value.',
  details: 'All settings are checked together. A form that is on must ask for an email or a phone.',
  words: 'change the contact form, add a field to it, its fields',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'contact-form',
  input: { body: formInput },
  answer: { status: 200, body: formSettings },
  refuses: { not_found: 'There is no contact list crmListId' },
  etag: true,
  example: { body: { isEnabled: true, title: 'Talk to us', notifyEmails: ['help@shop.example.com'] } },
  handler: (ctx, { body }) => contactForm.save(ctx, body),
})
