/** The store's settings of exchanges: one row over the defaults, merged at every depth, checked as a whole. */
import { isDeepStrictEqual } from 'node:util'
import { templates } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { parsePhone } from '#runtime/values/phone'
import { variableFault } from '#runtime/values/variables'
import { defaultSettings } from './defaults.ts'
import { templateFault } from './notice-texts.ts'
import {
  address,
  type ExchangeContent,
  type ExchangeSettingsInput,
  events,
  type exchangeSettings,
  exchangeSettingsInput,
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

/** The defaults, with `updatedAt` null, until they were first saved. */
export async function readSettings(ctx: Context): Promise<z.infer<typeof exchangeSettings>> {
  const row = await ctx.db
    .selectFrom('exchange_settings')
    .select(['content', 'updated_at'])
    .executeTakeFirst()
  return {
    ...merged(defaultSettings, (row?.content ?? {}) as object),
    updatedAt: row?.updated_at.toISOString() ?? null,
  }
}

/** Products and categories named for the first time are looked for, the platform's too: not inside a transaction. */
export async function requireNamed(ctx: Context, input: ExchangeSettingsInput): Promise<void> {
  const before = await readSettings(ctx)
  await requireReferences(ctx, exchangeSettingsInput, {
    before,
    after: input,
    kinds: ['product', 'category'],
  })
}

/** Two who save at once take turns; the same again changes nothing. Refuses what the whole may not be. */
export async function saveSettings(ctx: Context, input: ExchangeSettingsInput): Promise<void> {
  await ctx.lockStore()
  const { updatedAt, ...before } = await readSettings(ctx)
  const after = merged<ExchangeContent>(before, input)
  if (after.returnAddress) after.returnAddress = wholeAddress(ctx, after.returnAddress)
  if (isDeepStrictEqual(before, after)) return
  refuseFaults(after)
  await refuseTemplates(ctx, before, after)
  const now = ctx.now()
  const row = { content: JSON.stringify(after), updated_at: now }
  await ctx.db
    .insertInto('exchange_settings')
    .values({ created_at: now, ...row })
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
    .execute()
  await files.keepLinked(ctx, 'exchange-settings', after)
}

const noAddress = {
  number: null,
  complement: null,
  district: null,
  state: null,
  phone: null,
  instructions: null,
}

/** An address with all it must have; absent lines are null, the phone is E.164. Refuses what lacks a required line. */
export function wholeAddress(ctx: Context, given: object): z.infer<typeof address> {
  const blanksGone = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, value === '' ? null : value]),
  )
  const { success, data, error } = address.safeParse({ ...noAddress, ...blanksGone })
  if (!success) {
    const [first] = error.issues
    throw refuse('bad_request', `returnAddress.${first?.path.join('.')}: must be given`)
  }
  if (data.phone === null) return data
  const phone = parsePhone(data.phone, ctx.store.country)
  if (!phone) throw refuse('bad_request', 'returnAddress.phone: must be a phone number')
  return { ...data, phone }
}

/** An enabled method that sends items to an address that there is not; null where there is none. */
function methodWithoutAddress({ returnMethods, returnAddress }: ExchangeContent): string | null {
  if (returnAddress) return null
  const ships = returnMethods.find(({ method, isEnabled }) => isEnabled && shippingMethods.has(method))
  return ships?.method ?? null
}

/** Why the onboarding cannot turn exchanges on; null when it can. */
export async function lacksForExchanges(ctx: Context): Promise<'return-address-required' | null> {
  return methodWithoutAddress(await readSettings(ctx)) ? 'return-address-required' : null
}

/** Turned on by the onboarding. */
export const activateExchanges = (ctx: Context): Promise<void> => saveSettings(ctx, { isEnabled: true })

function refuseFaults(settings: ExchangeContent): void {
  refuseRepeated(
    'reasons',
    'key',
    settings.reasons.map(({ key }) => key),
  )
  refuseRepeated(
    'returnMethods',
    'method',
    settings.returnMethods.map(({ method }) => method),
  )
  if (!settings.returnMethods.some(({ isEnabled }) => isEnabled)) {
    throw refuse('bad_request', 'returnMethods: at least one must be enabled')
  }
  const method = methodWithoutAddress(settings)
  if (settings.isEnabled && method) {
    throw refuse('bad_request', `returnAddress: must be given, as the method ${method} sends items to it`)
  }
  for (const event of events) {
    const { subject, body } = settings.emails[event]
    refuseVariables(`emails.${event}.subject`, subject)
    refuseVariables(`emails.${event}.body`, body)
    refuseVariables(`messaging.${event}.text`, settings.messaging[event].text ?? '')
  }
}

/** Only what is new is looked at: an old one may have been paused since. */
async function refuseTemplates(ctx: Context, before: ExchangeContent, after: ExchangeContent): Promise<void> {
  for (const event of events) {
    const { officialapiTemplateId: id } = after.messaging[event]
    if (id === null || id === before.messaging[event].officialapiTemplateId) continue
    const fault = templateFault(await templates.get(ctx, id))
    if (fault) throw refuse('bad_request', `messaging.${event}.officialapiTemplateId: ${fault}`)
  }
}

function refuseVariables(field: string, text: string): void {
  const fault = variableFault(text, variables)
  if (fault) throw refuse('bad_request', `${field}: ${fault}`)
}

function refuseRepeated(list: string, field: string, values: readonly string[]): void {
  const at = values.findIndex((value, i) => values.indexOf(value) !== i)
  if (at >= 0) throw refuse('bad_request', `${list}.${at}.${field}: ${values[at]} is given twice`)
}
