/** Settings of the installments widget. */
import { widgetSettings } from '#operations/storefront/index'
import { defaultInstallmentSettings, installmentSettings, installmentWords } from './schema.ts'

export const installmentWidget = widgetSettings('installments', {
  defaults: defaultInstallmentSettings,
  words: installmentWords,
  schema: installmentSettings,
})
