/** Changes a store's profile and settings. */

import type { RowChange } from '#db/tables'
import type { Context } from '#runtime/context'
import type { JsonText } from '#runtime/operation'
import { requirePhone } from '#runtime/values/phone'
import { changeHours, type StoredHours } from '../conversions/attribution-hours.ts'
import { type FileUse, setUses } from '../files/uses.ts'
import { conversionDaysRebuild } from '../handles.ts'
import { checkPreferences, isSameJson, type JsonObject, mergePatch } from '../preferences.ts'
import { readStore } from './json.ts'
import { requireKnownZone } from './locality.ts'
import { type SplitPatch, splitPatch } from './patch.ts'
import { selectConnection } from './stores.ts'

const columns = [
  'name',
  'email',
  'phone',
  'country',
  'timezone',
  'locale',
  'logo_url',
  'attribution',
  'preferences',
] as const

/**
 * Applies a merge patch (rule 12) and returns the Store. Unchanged fields are not written; if no field changes, `updatedAt`
 * does not change either. New attribution hours apply to orders placed from now on.
 */
export async function patchStore(ctx: Context, body: JsonObject): Promise<JsonText> {
  await ctx.lockStore()
  const current = await ctx.db.selectFrom('stores').select(columns).executeTakeFirstOrThrow()
  const { name, email, phone, timezone, locale, logo_url: logoUrl } = current
  const patch = splitPatch(body, { name, email, phone, timezone, locale, logoUrl })
  const change = {
    ...buildProfileChange(patch, current.country),
    ...buildAttributionChange(ctx, current.attribution as StoredHours, patch),
    ...buildPreferencesChange(current.preferences as JsonObject, patch),
  }
  const { messagingConnectionType, logoUrl: newLogo } = patch.known
  if (messagingConnectionType !== undefined) await selectConnection(ctx, messagingConnectionType)
  if (newLogo !== undefined) await setUses(ctx, 'store:logo', newLogo === null ? [] : [logoUse(newLogo)])
  const changed = Object.fromEntries(
    Object.entries(change).filter(([column, value]) => value !== current[column as keyof typeof current]),
  )
  if (Object.keys(changed).length === 0) return readStore(ctx)
  if (changed.timezone !== undefined) await requireKnownZone(ctx.db, change.timezone!)
  await ctx.db
    .updateTable('stores')
    .set({ ...changed, updated_at: ctx.now() })
    .execute()
  if (changed.timezone !== undefined) {
    await ctx.queue(conversionDaysRebuild, {})
    for (const hook of ctx.extensions.timezoneChanged) await hook(ctx)
  }
  if (cachedFacts.some((column) => changed[column] !== undefined)) {
    await ctx.afterCommit(() => ctx.services.accessChanged(ctx.store.id))
  }
  return readStore(ctx)
}

/** Columns that every instance caches together with an API key. */
const cachedFacts = ['name', 'timezone', 'locale']

/** Allows files of any purpose, because logos have no separate upload purpose. */
const logoUse = (url: string): FileUse => ({ url, purpose: null, field: 'logoUrl' })

type StoreChange = RowChange<'stores'>

function buildProfileChange({ known }: SplitPatch, country: string): StoreChange {
  const { name, email, phone, timezone, locale, logoUrl } = known
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone: phone === null ? null : requirePhone(phone, country) }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(locale === undefined ? {} : { locale }),
    ...(logoUrl === undefined ? {} : { logo_url: logoUrl }),
  }
}

function buildAttributionChange(ctx: Context, stored: StoredHours, { known }: SplitPatch): StoreChange {
  if (!known.attribution) return {}
  const given = Object.entries(known.attribution).filter(([, hours]) => hours !== undefined)
  const next = changeHours(stored, Object.fromEntries(given), ctx.now())
  return next === stored ? {} : { attribution: JSON.stringify(next) }
}

function buildPreferencesChange(stored: JsonObject, { known, preferences }: SplitPatch): StoreChange {
  const next = mergePatch(mergePatch(stored, known.preferences ?? {}), preferences)
  if (isSameJson(next, stored)) return {}
  checkPreferences(next)
  return { preferences: JSON.stringify(next) }
}
