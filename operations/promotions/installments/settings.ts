/** How the storefront shows installments. */
import { widgetSettings } from '#operations/storefront/door'
import { defaultInstallmentSettings, installmentSettings } from './schema.ts'

export const installmentWidget = widgetSettings('installments', {
  defaults: defaultInstallmentSettings,
  schema: installmentSettings,
})
