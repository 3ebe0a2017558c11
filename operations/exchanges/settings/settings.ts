/** Settings of exchanges and returns. */

import { templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { mergeChange } from '#runtime/values/changes'
import { findRepeated } from '#runtime/values/fold'
import { requirePhone } from '#runtime/values/phone'
import { findVariableIssue } from '#runtime/values/variables'
import { defaultSettings, exchangeWords } from './defaults.ts'
import { findTemplateIssue } from './notice-texts.ts'
import {
  address,
  type ExchangeContent,
  type ExchangeSettingsInput,
  events,
  exchangeSettings,
} from './schema.ts'

const variables = new Set([
  'customerName',
  'firstName',
  'requestNumber',
  'orderNumber',
  'storeName',
  'items',
  'statusUrl',
  'returnAddress',
  'returnCode',
  'labelUrl',
  'deadline',
  'rejectionReason',
  'refundAmount',
])
const shippingMethods: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label'])

/**
 * The settings are validated as a whole after merging. Products and categories that a change adds must exist at the
 * platform.
 */
export const exchangeRules = settings({
  name: 'exchange-settings',
  table: 'exchange_settings',
  defaults: defaultSettings,
  words: exchangeWords,
  schema: exchangeSettings,
  references: { kinds: ['product', 'category'] },
  merge(ctx, before, change: ExchangeSettingsInput) {
    const after = mergeChange<ExchangeContent>(before, change)
    return { ...after, returnAddress: after.returnAddress && completeAddress(ctx, after.returnAddress) }
  },
  async check(ctx, after, before) {
    validateContent(after)
    await refuseTemplates(ctx, before, after)
  },
})

/** Reads the settings as the API returns them. */
export const readSettings = exchangeRules.read

const noAddress = {
  number: null,
  complement: null,
  district: null,
  state: null,
  phone: null,
  instructions: null,
}

/** Completes an address: missing lines become null, the phone becomes E.164. Refuses an address without a required line. */
export function completeAddress(ctx: Context, given: object): z.infer<typeof address> {
  const { success, data, error } = address.safeParse({ ...noAddress, ...given })
  if (!success) {
    const [first] = error.issues
    throw refuse('bad_request', `returnAddress.${first?.path.join('.')}: must be given`)
  }
  if (data.phone === null) return data
  return { ...data, phone: requirePhone(data.phone, ctx.store.country, 'returnAddress.phone') }
}

/** Returns an enabled shipping method that lacks a return address, or null. */
function findMethodWithoutAddress({ returnMethods, returnAddress }: ExchangeContent): string | null {
  if (returnAddress) return null
  const ships = returnMethods.find(({ method, isEnabled }) => isEnabled && shippingMethods.has(method))
  return ships?.method ?? null
}

/** The reason why the onboarding cannot enable exchanges; null when it can. */
export async function findActivationBlocker(ctx: Context): Promise<'return-address-required' | null> {
  return findMethodWithoutAddress(await exchangeRules.getEffective(ctx)) ? 'return-address-required' : null
}

/** Enables exchanges, for the onboarding. */
export const activateExchanges = (ctx: Context): Promise<void> =>
  exchangeRules.write(ctx, (before) => ({ ...before, isEnabled: true }))

function validateContent(content: ExchangeContent): void {
  refuseRepeated(
    'reasons',
    'key',
    content.reasons.map(({ key }) => key),
  )
  refuseRepeated(
    'returnMethods',
    'method',
    content.returnMethods.map(({ method }) => method),
  )
  if (!content.returnMethods.some(({ isEnabled }) => isEnabled)) {
    throw refuse('bad_request', 'returnMethods: at least one must be enabled')
  }
  const method = findMethodWithoutAddress(content)
  if (content.isEnabled && method) {
    throw refuse('bad_request', `returnAddress: must be given, as the method ${method} sends items to it`)
  }
  for (const event of events) {
    const { subject, body } = content.emails[event]
    refuseVariables(`emails.${event}.subject`, subject)
    refuseVariables(`emails.${event}.body`, body)
    refuseVariables(`messaging.${event}.text`, content.messaging[event].text ?? '')
  }
}

/** Checks only newly chosen templates, because a template chosen earlier may have been paused since. */
async function refuseTemplates(ctx: Context, before: ExchangeContent, after: ExchangeContent): Promise<void> {
  for (const event of events) {
    const { officialapiTemplateId: id } = after.messaging[event]
    if (id === null || id === before.messaging[event].officialapiTemplateId) continue
    const fault = findTemplateIssue(await templates.get(ctx, id))
    if (fault) throw refuse('bad_request', `messaging.${event}.officialapiTemplateId: ${fault}`)
  }
}

function refuseVariables(field: string, text: string): void {
  const fault = findVariableIssue(text, variables)
  if (fault) throw refuse('bad_request', `${field}: ${fault}`)
}

function refuseRepeated(list: string, field: string, values: readonly string[]): void {
  const at = findRepeated(values)
  if (at >= 0) throw refuse('bad_request', `${list}.${at}.${field}: ${values[at]} is given twice`)
}
