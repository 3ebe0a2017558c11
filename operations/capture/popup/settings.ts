/** The popup's settings: read with what was won, saved as a whole. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/door'
import { changed, publication } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { merged } from '#runtime/values/changes'
import { isId } from '#runtime/values/ids'
import { defaultPopup } from './defaults.ts'
import { changedPopup } from './merge.ts'
import { preparePopup, refuseForeignImages } from './providers.ts'
import { refusePopupFaults } from './rules.ts'
import { type PopupInput, type PopupSettings, popupSettings } from './schema.ts'

export interface SavedPopup {
  settings: PopupSettings
  /** 0: never saved. */
  revision: number
  enabledAt: Date | null
  updatedAt: Date | null
}

interface Row {
  settings: unknown
  revision: number
  enabled_at: Date | null
  updated_at: Date
}

const findSaved = prepared<object, Row>(
  (db) => db.selectFrom('newsletter_settings').select(['settings', 'revision', 'enabled_at', 'updated_at']),
  { planOnce: true },
)

/** The settings in force, the defaults where none were saved; `won` of the prizes is not counted. */
export async function savedPopup(ctx: Context): Promise<SavedPopup> {
  const [row] = await findSaved(ctx, {})
  if (!row) return { settings: defaultPopup, revision: 0, enabledAt: null, updatedAt: null }
  return {
    settings: merged(defaultPopup, row.settings as never),
    revision: row.revision,
    enabledAt: row.enabled_at,
    updatedAt: row.updated_at,
  }
}

const countWon = prepared<object, { id: string; won: number }>((db) =>
  db
    .selectFrom('newsletter_subscribers')
    .where('prize_id', 'is not', null)
    .groupBy('prize_id')
    .select([sql<string>`prize_id`.as('id'), sql<number>`count(*)::int`.as('won')]),
)

/** The settings as an answer. */
export async function readPopup(ctx: Context): Promise<z.infer<typeof popupSettings>> {
  const { settings, updatedAt } = await savedPopup(ctx)
  const { prizes } = settings.roulette
  const won = new Map(prizes.length === 0 ? [] : (await countWon(ctx, {})).map((row) => [row.id, row.won]))
  return {
    ...settings,
    roulette: {
      ...settings.roulette,
      prizes: prizes.map((prize) => ({ ...prize, won: won.get(prize.id) ?? 0 })),
    },
    updatedAt: updatedAt?.toISOString() ?? null,
  }
}

/**
 * Lays a change over the settings, checks the whole, makes shared codes on the platform, and saves. Called outside a
 * transaction. Refuses what may not be, an unknown list, and what needs a provider that is not connected. The same
 * again changes nothing.
 */
export async function savePopup(ctx: Context, input: PopupInput): Promise<void> {
  for (;;) {
    const saved = await savedPopup(ctx)
    const after = changedPopup(saved.settings, input, () => ctx.newId())
    refusePopupFaults(after)
    refuseForeignImages(ctx, saved.settings, after)
    if (isDeepStrictEqual(after, saved.settings)) {
      if (after.isEnabled) await ctx.transaction((tx) => publication.publishIfMissing(tx))
      return
    }
    await requireList(ctx, saved.settings, after)
    await preparePopup(ctx, saved.settings, after)
    // Saved by another meanwhile: the change is laid over that.
    if (await ctx.transaction((tx) => write(tx, saved, after))) return
  }
}

/** Refuses a list that this change names and there is not; holds it until the transaction ends. */
export async function requireList(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  const { contactListId } = after
  if (contactListId === null || contactListId === before.contactListId) return
  const list = isId(contactListId)
    ? await ctx.db
        .selectFrom('contact_lists')
        .select('id')
        .where('id', '=', contactListId)
        // Held until the settings are saved: whoever deletes the list takes it out of saved settings.
        .forKeyShare()
        .executeTakeFirst()
    : undefined
  if (!list) throw refuse('not_found', 'contactListId: there is no such contact list')
}

/** Answers whether nobody saved since `before` was read. */
async function write(ctx: Context, before: SavedPopup, after: PopupSettings): Promise<boolean> {
  const now = ctx.now()
  const saving = {
    settings: JSON.stringify(after),
    enabled_at: after.isEnabled ? (before.enabledAt ?? now) : null,
    updated_at: now,
  }
  const written = await ctx.db
    .insertInto('newsletter_settings')
    .values({ ...saving, created_at: now })
    .onConflict((conflict) =>
      conflict
        .column('store_id')
        .doUpdateSet({ ...saving, revision: before.revision + 1 })
        .where('newsletter_settings.revision', '=', before.revision),
    )
    .returning('revision')
    .executeTakeFirst()
  if (!written) return false
  await requireList(ctx, before.settings, after)
  await keepStock(ctx, before.settings, after)
  await files.keepNamed(ctx, 'newsletter:settings', popupSettings, { before: before.settings, after })
  await changed(ctx)
  if (after.isEnabled) await publication.publish(ctx)
  return true
}

/** What was won of prizes that have a stock from now on; those that had one keep their count. */
async function keepStock(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  const limited = new Set(before.roulette.prizes.filter((each) => each.stock !== null).map((each) => each.id))
  const begun = after.roulette.prizes.filter((each) => each.stock !== null && !limited.has(each.id))
  for (const { id } of begun) {
    const taken = ctx.db
      .selectFrom('newsletter_subscribers')
      .where('prize_id', '=', id)
      .select(sql<number>`count(*)::int`.as('taken'))
    await ctx.db
      .insertInto('newsletter_prizes')
      .values({ id, taken })
      .onConflict((conflict) => conflict.columns(['store_id', 'id']).doUpdateSet({ taken }))
      .execute()
  }
}

/** Turns the popup on, in the caller's transaction; one that is on stays as it is. Refuses settings that cannot be shown. */
export async function turnPopupOn(ctx: Context): Promise<void> {
  const saved = await savedPopup(ctx)
  if (saved.settings.isEnabled) return
  const after = { ...saved.settings, isEnabled: true }
  refusePopupFaults(after)
  if (!(await write(ctx, saved, after))) {
    throw refuse('conflict', 'The popup was just saved by somebody else: try again')
  }
}

/** Since when the popup is on, or null. */
export async function popupOnSince(ctx: Context): Promise<Date | null> {
  return (await savedPopup(ctx)).enabledAt
}

/** A contact list is gone: the settings that name it let go of it. */
export async function forgetPopupList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('newsletter_settings')
    .set((eb) => ({
      settings: sql`jsonb_set(settings, '{contactListId}', 'null')`,
      revision: eb('revision', '+', 1),
      updated_at: ctx.now(),
    }))
    .where(sql<boolean>`settings ->> 'contactListId' = ${listId}`)
    .execute()
}
