import { operation } from '#runtime/operation'
import { countdownSettings } from '../countdown.ts'
import { countdownBar, countdownInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/flash-countdown-bar/settings',
  description:
    'Change the countdown banner; the storefront shows it at once. Fields left out keep their value.',
  details:
    "A countdown to one end, a window that comes back on days of the week, or one that begins with each visitor. Local times are wall clocks of `countdown.timezone`, or the store's. An end that is over may stay, but nothing that has one can be turned on.",
  words: 'countdown on top of the shop until Sunday, hurry, announcement',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'storefront-bars',
  input: { body: countdownInput },
  answer: { status: 200, body: countdownBar },
  etag: true,
  example: {
    body: {
      isEnabled: true,
      countdown: { isEnabled: true, type: 'daily', dailyStart: '22:00', dailyEnd: '02:00', weekdays: [5, 6] },
      announcements: [{ text: 'Frete grátis na madrugada', linkUrl: '/ofertas', isEnabled: true }],
    },
  },
  handler: (ctx, { body }) => countdownSettings.save(ctx, body),
})
