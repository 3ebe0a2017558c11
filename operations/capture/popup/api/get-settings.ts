import { operation } from '#runtime/operation'
import { popupSettings } from '../schema.ts'
import { popup } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/newsletter/settings',
  description: 'Read the settings of the popup; its defaults when it was never saved.',
  words: 'popup, wheel of fortune, roulette, how is it set up',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'newsletter',
  answer: { status: 200, body: popupSettings },
  etag: true,
  handler: (ctx) => popup.read(ctx),
})
