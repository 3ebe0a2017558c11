import { operation } from '#runtime/operation'
import { popupInput, popupSettings } from '../schema.ts'
import { popup } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/newsletter/settings',
  description: 'Change the popup; the storefront shows it at once. Fields left out keep their value.',
  details:
    'The change is laid over what is saved, and the whole is checked: the probabilities of the prizes make 100, and ' +
    'each part that is on is complete. Shared codes are made on the platform. When the popup is on, the loader is put ' +
    'on the platform. `roulette.prizes` and `display.pagePatterns` are replaced whole; a prize keeps its `id` and its ' +
    'count where the id is sent back.',
  words: 'change the popup, wheel of fortune, prizes, discount for signing up',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'newsletter',
  input: { body: popupInput },
  answer: { status: 200, body: popupSettings },
  refuses: {
    not_found: 'There is no contact list contactListId',
    conflict: 'It needs a platform (coupons) or an email provider that is not connected',
  },
  etag: true,
  transaction: 'own',
  example: { body: { isEnabled: true, texts: { title: 'Get 10% off' }, design: { buttonColor: '#4f46e5' } } },
  handler: (ctx, { body }) => popup.save(ctx, body),
})
