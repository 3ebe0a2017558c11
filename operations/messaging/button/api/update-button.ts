import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { readButton, updateButton } from '../button.ts'
import { buttonInput, buttonReadOnly, messagingButton } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/messaging-button/:messagingButtonId',
  description: 'Change the chat button; the storefront shows it at once. Fields left out keep their value.',
  words: 'change the chat bubble, its colour, hours, attendants',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'messaging',
  input: { body: writeBody(buttonInput, buttonReadOnly) },
  answer: { status: 200, body: messagingButton },
  refuses: { not_found: 'There is no such button', conflict: 'It would open no number' },
  etag: true,
  example: { body: { backgroundColor: '#128c7e', schedule: { isEnabled: false } } },
  async handler(ctx, { params, body }) {
    await updateButton(ctx, params.messagingButtonId, body)
    return readButton(ctx)
  },
})
