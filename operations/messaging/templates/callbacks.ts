/** Applies the provider's callbacks about templates (rule 7): status, quality, category. */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import type { events } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { templateSync } from '../handles.ts'
import type {
  TemplateCategoryData,
  TemplateFlaggedData,
  TemplateQualityData,
  TemplateStatusData,
} from '../provider/template-port.ts'
import type { TemplateRow } from './rows.ts'
import {
  lockByProviderIds,
  moveCategory,
  moveStatus,
  notifyPlannedCategory,
  notifyPlannedDisabling,
  removeTemplate,
} from './transitions.ts'

type StoredEvent = events.StoredEvent

/** Calls `apply` for each event, oldest first. Returns the ids of events whose template does not exist (yet). */
async function applyEach<D extends { providerId: string }>(
  ctx: Context,
  stored: StoredEvent[],
  apply: (row: TemplateRow, data: D, at: Date) => Promise<void>,
): Promise<readonly string[]> {
  const unknown: string[] = []
  const inOrder = [...stored].sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  for (const event of inOrder) {
    const data = event.data as D
    // Read for each event, as the previous one may have changed it.
    const [row] = await lockByProviderIds(ctx, [data.providerId])
    if (row) await apply(row, data, event.occurredAt)
    else unknown.push(event.id)
  }
  return unknown
}

export const applyTemplateStatuses = (ctx: Context, stored: StoredEvent[]) =>
  applyEach<TemplateStatusData>(ctx, stored, async (row, data, at) => {
    const { status, rejectionReason, pausedUntil } = data
    if (status === 'gone') return removeTemplate(ctx, row, true)
    await moveStatus(ctx, row, {
      status,
      rejectionReason,
      pausedUntil: pausedUntil === null ? null : new Date(pausedUntil),
      at,
    })
  })

export const applyTemplateQualities = (ctx: Context, stored: StoredEvent[]) =>
  applyEach<TemplateQualityData>(ctx, stored, async (row, { quality }) => {
    if (row.quality === quality) return
    await ctx.db
      .updateTable('message_templates')
      .set({ quality, updated_at: ctx.now() })
      .where('id', '=', row.id)
      .execute()
  })

export const applyTemplateCategories = (ctx: Context, stored: StoredEvent[]) =>
  applyEach<TemplateCategoryData>(ctx, stored, async (row, { category, isToCome = false, from = null }) => {
    if (isToCome) await notifyPlannedCategory(ctx, row, category, from)
    else await moveCategory(ctx, row, category)
  })

export const applyTemplateFlags = (ctx: Context, stored: StoredEvent[]) =>
  applyEach<TemplateFlaggedData>(ctx, stored, async (row, { disabledAt }) => {
    await notifyPlannedDisabling(ctx, row, disabledAt)
  })

/**
 * Maps event ids to the stores of their templates, found by the provider's id. An event goes to only one store; other
 * stores that share its account reconcile their templates with the provider.
 */
export async function findTemplateStores(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<Map<string, string>> {
  if (stored.length === 0) return new Map()
  const providerIdOf = (event: StoredEvent): string => (event.data as { providerId: string }).providerId
  const ids = [...new Set(stored.map(providerIdOf))]
  const rows = await ctx.root
    .selectFrom('message_templates')
    .select(['provider_id', 'store_id'])
    .where('provider_id', '=', sql<string>`any(${ids}::text[])`)
    .where(isInStores('store_id', await findStoreIds(ctx.root, 'message-template', ids)))
    .orderBy('store_id', 'desc')
    .execute()
  const stores = new Map(rows.map((row) => [row.provider_id!, row.store_id]))
  const others = rows.filter((row) => stores.get(row.provider_id!) !== row.store_id)
  for (const storeId of new Set(others.map((row) => row.store_id))) {
    await (await ctx.forStore(storeId))?.queue(templateSync, {})
  }
  return new Map(
    stored.flatMap((event) => {
      const store = stores.get(providerIdOf(event))
      return store ? [[event.id, store] as const] : []
    }),
  )
}
