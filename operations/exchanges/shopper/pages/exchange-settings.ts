import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { publicSettings } from '../../settings/public.ts'
import { whileOpen } from '../open-page.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/settings',
  description: 'What a shopper chooses among: types, reasons, conditions, methods and texts.',
  trust: 'What the store says to everybody.',
  kind: 'read',
  feature: 'exchanges',
  handler: (ctx) => whileOpen(ctx, async (settings) => jsonAnswer(publicSettings(settings))),
})
