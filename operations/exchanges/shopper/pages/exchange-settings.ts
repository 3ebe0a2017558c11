import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { publicSettings } from '../../settings/public.ts'
import { exchangeRules } from '../../settings/settings.ts'
import { missing } from '../open-page.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/settings',
  description: 'What a shopper chooses among: types, reasons, conditions, methods and texts.',
  trust: 'What the store says to everybody.',
  kind: 'read',
  feature: 'exchanges',
  async handler(ctx) {
    const settings = await exchangeRules.inForce(ctx)
    return settings.isEnabled ? jsonAnswer(publicSettings(settings)) : missing(false)
  },
})
