/** How the storefront shows installments. */
import { widgetSettings } from '#operations/storefront/door'
import { defaultInstallmentSettings, installmentSettings, installmentWords } from './schema.ts'

export const installmentWidget = widgetSettings('installments', {
  defaults: defaultInstallmentSettings,
  words: installmentWords,
  schema: installmentSettings,
})
