import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { createPreview, preview } from '../previews.ts'
import { popupInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/newsletter/preview',
  description:
    'Make a link that shows the popup with changed settings, without saving them; it lives 24 hours.',
  details: 'It shows the popup even when it is off. The 20 newest of a store are kept.',
  words: 'see the popup before it goes live',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'newsletter',
  input: { body: object({ settings: popupInput.default({}) }) },
  answer: { status: 201, body: preview },
  refuses: { not_found: 'There is no contact list contactListId' },
  example: { body: { settings: { design: { buttonColor: '#4f46e5' } } } },
  handler: (ctx, { body }) => createPreview(ctx, body.settings),
})
