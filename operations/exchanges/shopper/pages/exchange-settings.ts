import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { toPublicSettings } from '../../settings/public.ts'
import { whileEnabled } from '../while-enabled.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/settings',
  description: 'The choices of a shopper: types, reasons, conditions, methods and texts.',
  trust: 'Public settings of the store.',
  kind: 'read',
  feature: 'exchanges',
  handler: (ctx) => whileEnabled(ctx, async (settings) => jsonAnswer(toPublicSettings(settings))),
})
