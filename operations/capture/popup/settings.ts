/** The popup's settings. Reads also return how often each prize was won. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { settings } from '#runtime/database/settings'
import { defaultPopup, popupWords } from './defaults.ts'
import { applyPopupChange } from './merge.ts'
import { preparePopup, refuseForeignImages } from './providers.ts'
import { refuseInvalidPopup } from './rules.ts'
import { publishHooks, requireList } from './saving.ts'
import { type PopupInput, type PopupSettings, popupSettings } from './schema.ts'

const countWon = prepared<object, { id: string; won: number }>((db) =>
  db
    .selectFrom('newsletter_subscribers')
    .where('prize_id', 'is not', null)
    .groupBy('prize_id')
    .select([sql<string>`prize_id`.as('id'), sql<number>`count(*)::int`.as('won')]),
)

/** Refuses invalid settings, foreign images and an unknown contact list. */
export async function checkPopup(ctx: Context, after: PopupSettings, before: PopupSettings): Promise<void> {
  refuseInvalidPopup(after, ctx.store.currency)
  refuseForeignImages(ctx, before, after)
  await requireList(ctx, 'contactListId', after, before)
}

/**
 * The settings. A save creates shared codes on the platform, and refuses to turn on parts whose provider is not
 * connected.
 */
export const popup = settings({
  name: 'newsletter:settings',
  table: 'newsletter_settings',
  columns: { content: 'settings' },
  extraColumns: ['enabled_at'],
  defaults: defaultPopup,
  words: popupWords,
  schema: popupSettings,
  merge: (ctx, before, change: PopupInput) => applyPopupChange(before, change, () => ctx.newId()),
  check: checkPopup,
  prepare: (ctx, after, before) => preparePopup(ctx, before, after),
  derivedColumns: ({ isEnabled }, row, now) => ({ enabled_at: isEnabled ? (row?.enabled_at ?? now) : null }),
  async onSaved(tx, after, before) {
    await carryOverStock(tx, before, after)
    await publishHooks.onSaved(tx, after)
  },
  onUnchanged: publishHooks.onUnchanged,
  async answerFields(ctx, { roulette }) {
    const { prizes } = roulette
    const won = new Map(prizes.length === 0 ? [] : (await countWon(ctx, {})).map((row) => [row.id, row.won]))
    return {
      roulette: { ...roulette, prizes: prizes.map((prize) => ({ ...prize, won: won.get(prize.id) ?? 0 })) },
    }
  },
})

/** Initializes the number of wins of prizes that become limited. Prizes that were limited before keep their count. */
async function carryOverStock(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  const limited = new Set(before.roulette.prizes.filter((each) => each.stock !== null).map((each) => each.id))
  const begun = after.roulette.prizes.filter((each) => each.stock !== null && !limited.has(each.id))
  for (const { id } of begun) {
    await ctx.db
      .insertInto('newsletter_prizes')
      .columns(['id', 'taken'])
      .expression((db) =>
        db
          .selectFrom('newsletter_subscribers')
          .where('prize_id', '=', id)
          .select([sql<string>`${id}::uuid`.as('id'), sql<number>`count(*)::int`.as('taken')]),
      )
      .onConflict((conflict) =>
        conflict.columns(['store_id', 'id']).doUpdateSet({ taken: sql<number>`excluded.taken` }),
      )
      .execute()
  }
}

/**
 * Turns the popup on, in the caller's transaction. A popup that is already on stays unchanged. Refuses saved settings with
 * which a popup cannot be shown.
 */
export const turnPopupOn = (ctx: Context): Promise<void> =>
  popup.write(ctx, (before) => ({ ...before, isEnabled: true }))

/** When the popup was turned on; null if it is off. */
export async function getPopupOnSince(ctx: Context): Promise<Date | null> {
  return (await popup.find(ctx)).row?.enabled_at ?? null
}

/** Clears a deleted contact list from the settings. */
export async function clearPopupList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('newsletter_settings')
    .set({ settings: sql`jsonb_set(settings, '{contactListId}', 'null')`, updated_at: ctx.now() })
    .where(sql<boolean>`settings ->> 'contactListId' = ${listId}`)
    .execute()
}
