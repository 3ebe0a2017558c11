/** Settings of the stock counter, one row a store. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import * as storefront from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { type CounterChange, type CounterContent, defaultCounter, stockCounterSettings } from './schema.ts'

const found = prepared<Record<never, never>, { content: CounterContent; updated_at: Date }>((db) =>
  db.selectFrom('stock_counter_settings').select([sql<CounterContent>`content`.as('content'), 'updated_at']),
)

export async function readCounter(ctx: Context): Promise<CounterContent> {
  const [row] = await found(ctx, {})
  return row?.content ?? defaultCounter
}

export async function readCounterSettings(ctx: Context): Promise<z.input<typeof stockCounterSettings>> {
  const [row] = await found(ctx, {})
  return { ...(row?.content ?? defaultCounter), updatedAt: row?.updated_at.toISOString() ?? null }
}

/**
 * Saves the merged whole. Called outside a transaction: products and categories that are new are looked for in the
 * mirror, then at the platform. Refuses those that it does not have, and an empty list of the chosen scope.
 */
export async function saveCounter(ctx: Context, change: CounterChange): Promise<void> {
  const known = await readCounter(ctx)
  // What has no place in the settings anyway is refused before the platform is asked.
  refuseEmptyScope(merged(known, change))
  const named = { before: known, after: change }
  await requireReferences(ctx, stockCounterSettings, { ...named, kinds: ['product', 'category'] })
  await ctx.transaction(async (tx) => {
    await tx.lockStore()
    const before = await readCounter(tx)
    const after = merged(before, change)
    refuseEmptyScope(after)
    if (isDeepStrictEqual(before, after)) return
    const row = { content: JSON.stringify(after), updated_at: tx.now() }
    await tx.db
      .insertInto('stock_counter_settings')
      .values(row)
      .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
      .execute()
    await storefront.changed(tx)
  })
}

function merged(before: CounterContent, change: CounterChange): CounterContent {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = { ...before, ...given } as CounterContent
  return { ...after, lastUnitText: after.lastUnitText || null }
}

function refuseEmptyScope({ isEnabled, scope, productIds, categoryIds }: CounterContent): void {
  if (!isEnabled) return
  if (scope === 'products' && productIds.length === 0) {
    throw refuse('bad_request', 'productIds: name at least one product, or choose the scope all')
  }
  if (scope === 'categories' && categoryIds.length === 0) {
    throw refuse('bad_request', 'categoryIds: name at least one category, or choose the scope all')
  }
}
