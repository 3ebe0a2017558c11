import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { missing } from '../lib/open-page.ts'
import { publicSettings } from '../lib/public-settings.ts'
import { readSettings } from '../lib/settings.ts'

export default storefrontPage({
  method: 'GET',
  path: '/exchanges/settings',
  description: 'What a shopper chooses among: types, reasons, conditions, methods and texts.',
  trust: 'What the store says to everybody.',
  kind: 'read',
  feature: 'exchanges',
  async handler(ctx) {
    const settings = await readSettings(ctx)
    return settings.isEnabled ? jsonAnswer(publicSettings(settings)) : missing(false)
  },
})
