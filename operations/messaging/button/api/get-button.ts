import { operation } from '#runtime/operation'
import { readButton } from '../button.ts'
import { messagingButton } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/messaging-button',
  description: 'Get the chat button of the storefront; the defaults, without an id, until it is created.',
  words: 'chat bubble on the website, its settings',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  answer: { status: 200, body: messagingButton },
  etag: true,
  handler: (ctx) => readButton(ctx),
})
