/** The popup's settings, answered with what was won. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { settings } from '#runtime/database/settings'
import { defaultPopup, popupWords } from './defaults.ts'
import { changedPopup } from './merge.ts'
import { preparePopup, refuseForeignImages } from './providers.ts'
import { refusePopupFaults } from './rules.ts'
import { onPlatform, requireList } from './saving.ts'
import { type PopupInput, type PopupSettings, popupSettings } from './schema.ts'

const countWon = prepared<object, { id: string; won: number }>((db) =>
  db
    .selectFrom('newsletter_subscribers')
    .where('prize_id', 'is not', null)
    .groupBy('prize_id')
    .select([sql<string>`prize_id`.as('id'), sql<number>`count(*)::int`.as('won')]),
)

/** Refuses what may not be, and an unknown list. */
export async function checkPopup(ctx: Context, after: PopupSettings, before: PopupSettings): Promise<void> {
  refusePopupFaults(after)
  refuseForeignImages(ctx, before, after)
  await requireList(ctx, 'contactListId', after, before)
}

/** A save makes shared codes on the platform; what needs a provider that is not connected is refused. */
export const popup = settings({
  name: 'newsletter:settings',
  table: 'newsletter_settings',
  columns: { content: 'settings' },
  reads: ['enabled_at'],
  defaults: defaultPopup,
  words: popupWords,
  schema: popupSettings,
  merge: (ctx, before, change: PopupInput) => changedPopup(before, change, () => ctx.newId()),
  check: checkPopup,
  prepare: (ctx, after, before) => preparePopup(ctx, before, after),
  also: ({ isEnabled }, row, now) => ({ enabled_at: isEnabled ? (row?.enabled_at ?? now) : null }),
  async saved(tx, after, before) {
    await keepStock(tx, before, after)
    await onPlatform.saved(tx, after)
  },
  unchanged: onPlatform.unchanged,
  async shown(ctx, { roulette }) {
    const { prizes } = roulette
    const won = new Map(prizes.length === 0 ? [] : (await countWon(ctx, {})).map((row) => [row.id, row.won]))
    return {
      roulette: { ...roulette, prizes: prizes.map((prize) => ({ ...prize, won: won.get(prize.id) ?? 0 })) },
    }
  },
})

/** What was won of prizes that have a stock from now on; those that had one keep their count. */
async function keepStock(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
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

/** In the caller's transaction; one that is on stays as it is. Refuses settings that cannot be shown. */
export const turnPopupOn = (ctx: Context): Promise<void> =>
  popup.write(ctx, (before) => ({ ...before, isEnabled: true }))

/** Since when the popup is on, or null. */
export async function popupOnSince(ctx: Context): Promise<Date | null> {
  return (await popup.find(ctx)).row?.enabled_at ?? null
}

/** A contact list is gone: the settings that name it let go of it. */
export async function forgetPopupList(ctx: Context, listId: string): Promise<void> {
  await ctx.db
    .updateTable('newsletter_settings')
    .set({ settings: sql`jsonb_set(settings, '{contactListId}', 'null')`, updated_at: ctx.now() })
    .where(sql<boolean>`settings ->> 'contactListId' = ${listId}`)
    .execute()
}
