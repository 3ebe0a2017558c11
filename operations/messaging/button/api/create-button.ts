import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createButton, readButton } from '../button.ts'
import { buttonInput, buttonReadOnly, messagingButton } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/messaging-button',
  description: 'Create the chat button of the storefront. Fields left out take their defaults.',
  words: 'put a chat bubble on the website',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'messaging',
  input: { body: writeBody(buttonInput, buttonReadOnly) },
  answer: { status: 201, body: messagingButton },
  refuses: { conflict: 'There is one already, or it would open no number' },
  etag: true,
  example: { body: { isEnabled: true, phone: '+5511988887777', label: 'Fale conosco' } },
  async handler(ctx, { body }) {
    await createButton(ctx, body)
    return readButton(ctx)
  },
})
