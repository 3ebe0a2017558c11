/** Reconciles the platform with the saved discounts: compares them and repairs differences (rule 8). */

import { sql } from 'kysely'
import type { EcommercePort } from '#operations/store/index'
import { connections, discountHash, isAmong, type LiveDiscount, recordset } from '#operations/store/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { intentLeaseMs } from '../discounts/intents.ts'
import { buildReference } from '../discounts/kinds.ts'
import { withAnswerTimeout } from '../discounts/platform-call.ts'
import { isLive, type Saved, type SyncStatus, toSaved } from '../discounts/rows.ts'
import { discountReconcile } from '../handles.ts'
import { getKind } from './all-kinds.ts'
import { allowedKinds, openRepair, reconcileIntent } from './reconcile-intent.ts'

type Connected = connections.Connected<EcommercePort>

const usageBatchSize = 100

/**
 * Added to the revision in successive rounds. After a database restore the platform may have higher revisions than
 * ours.
 */
const revisionSteps = [1, 100, 10_000]

/**
 * Reads how often discounts were used, puts missing or different discounts on the platform, and removes orphans from
 * it. Skips discounts with an open intent. Does nothing without a connected platform. Throws `Unavailable` if the
 * platform does not answer. Not inside a transaction.
 */
export async function syncDiscounts(ctx: Context, signal: AbortSignal): Promise<void> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return
  await requeueIntents(ctx)
  await readUsage(ctx, connected)
  const refused = new Set<string>()
  for (const stride of revisionSteps) {
    const { differing, orphans } = await compare(ctx, connected)
    for (const orphan of orphans) {
      signal.throwIfAborted()
      await removeOrphan(connected, orphan)
    }
    const repairable = differing.filter(({ discount }) => !refused.has(discount.id))
    if (repairable.length === 0) return
    for (const { discount, live } of repairable) {
      signal.throwIfAborted()
      const revision = Math.max(discount.revision, live?.revision ?? 0) + stride
      if ((await repair(ctx, discount, revision)) === 'failed') refused.add(discount.id)
    }
  }
}

interface DifferingDiscount {
  discount: Saved
  live: LiveDiscount | undefined
}

/** Finds differing discounts and orphans, and records the discounts on which both sides agree. */
async function compare(
  ctx: Context,
  { port, store }: Connected,
): Promise<{ differing: DifferingDiscount[]; orphans: LiveDiscount[] }> {
  // The platform must be read first, then the intents, then the rows. A discount that is being created gets its intent
  // before it is on the platform, and its row before the intent is closed. In this order it is never mistaken for an
  // orphan.
  const listed = await withAnswerTimeout(port.listDiscounts(store))
  const open = await listOpenIntents(ctx)
  const saved = await listDiscounts(ctx)
  const allowed = await allowedKinds(ctx)
  const there = new Map(listed.map((each) => [each.reference, each]))
  const now = ctx.now()
  const differing: DifferingDiscount[] = []
  const agreed: { id: string; status: string }[] = []
  for (const discount of saved) {
    const reference = buildReference(discount.kind, discount.id)
    const live = there.get(reference)
    there.delete(reference)
    if (open.has(discount.id)) continue
    const shouldBe = isLive(discount, now)
    const isAllowed = allowed.has(discount.kind)
    if (isAgreed(discount, shouldBe && isAllowed, live, ctx.store.currency)) {
      const status = !shouldBe ? 'none' : isAllowed ? 'synced' : 'suspended'
      agreed.push({ id: discount.id, status })
    } else differing.push({ discount, live })
  }
  await recordAgreed(ctx, agreed)
  return { differing, orphans: [...there.values()].filter(({ reference }) => !open.has(parseId(reference))) }
}

function isAgreed(
  discount: Saved,
  shouldBe: boolean,
  live: LiveDiscount | undefined,
  currency: string,
): boolean {
  if (!shouldBe || !live) return !shouldBe && !live
  const { kind, id, revision } = discount
  return live.hash === discountHash(getKind(kind).spec(id, revision, discount, currency))
}

const parseId = (reference: string): string => reference.slice(reference.indexOf(':') + 1)

/** Repairs one discount. Returns null if another write of the discount is running. */
async function repair(ctx: Context, { id, kind }: Saved, revision: number): Promise<SyncStatus | null> {
  const token = await ctx.transaction((tx) => openRepair(tx, getKind(kind), id, revision))
  return token === null ? null : reconcileIntent(ctx, id, token)
}

const removeOrphan = ({ port, store }: Connected, { reference, revision }: LiveDiscount): Promise<void> =>
  withAnswerTimeout(port.removeDiscount(store, reference, revision + 1))

/** Requeues expired intents, because their job may have used up its retries during an outage of the platform. */
async function requeueIntents(ctx: Context): Promise<void> {
  const stale = await ctx.db
    .selectFrom('discount_intents')
    .select(['discount_id', 'token'])
    .where('created_at', '<=', new Date(ctx.now().getTime() - intentLeaseMs))
    .execute()
  for (const { discount_id: discountId, token } of stale) {
    await ctx.queue(discountReconcile, { discountId, token })
  }
}

async function listOpenIntents(ctx: Context): Promise<ReadonlySet<string>> {
  const rows = await ctx.db.selectFrom('discount_intents').select('discount_id').execute()
  return new Set(rows.map((row) => row.discount_id))
}

async function listDiscounts(ctx: Context): Promise<Saved[]> {
  const rows = await ctx.db.selectFrom('discounts').selectAll().orderBy('id').execute()
  return rows.map(toSaved)
}

/** Records the sync status of discounts on which both sides agree. */
async function recordAgreed(ctx: Context, agreed: readonly { id: string; status: string }[]): Promise<void> {
  for (const status of ['none', 'synced', 'suspended'] as const) {
    const ids = agreed.filter((each) => each.status === status).map(({ id }) => id)
    if (ids.length === 0) continue
    // Skips a discount if an intent was opened meanwhile, because that write is newer than this comparison.
    const untouched = ctx.db.selectFrom('discount_intents as i').select('i.discount_id')
    await ctx.db
      .updateTable('discounts')
      .set({
        sync_status: status,
        sync_error: null,
        ...(status === 'synced' && { synced_at: ctx.now() }),
      })
      .where(isAmong('id', ids, 'uuid'))
      .where('id', 'not in', untouched)
      .$if(status !== 'synced', (query) => query.where('sync_status', '!=', status))
      .execute()
  }
}

const usageTypes = { id: 'uuid', orders: 'integer', total: 'numeric', currency: 'text' }

/** Stores how often discounts were used. Some platforms (Shopify) report no discounted sum; then the stored sum stays. */
async function readUsage(ctx: Context, { port, store }: Connected): Promise<void> {
  const rows = await ctx.db.selectFrom('discounts').select(['id', 'kind']).orderBy('id').execute()
  for (let i = 0; i < rows.length; i += usageBatchSize) {
    const ids = new Map<string, string>(
      rows.slice(i, i + usageBatchSize).map(({ id, kind }) => [`${kind}:${id}`, id]),
    )
    const usage = await withAnswerTimeout(port.discountUsage(store, [...ids.keys()]))
    const used = Object.entries(usage).flatMap(([reference, { orders, total, currency }]) => {
      const id = ids.get(reference)
      return id === undefined ? [] : [{ id, orders, total, currency }]
    })
    if (used.length > 0) await ctx.transaction((tx) => writeUsage(tx, used))
  }
}

async function writeUsage(
  ctx: Context,
  used: readonly { id: string; orders: number; total: string | null; currency: string }[],
): Promise<void> {
  await ctx.lockStore()
  const written = await ctx.db
    .updateTable('discounts as d')
    .from(recordset(usageTypes, used))
    .set({
      usage_count: sql<number>`r.orders`,
      discount_total: sql<string>`coalesce(r.total, d.discount_total)`,
      currency: sql<string>`r.currency`,
    })
    .whereRef('d.id', '=', sql`r.id`)
    .where(
      sql<boolean>`(d.usage_count, d.discount_total, d.currency) is distinct from
        (r.orders, coalesce(r.total, d.discount_total), r.currency)`,
    )
    .returning('d.usage_limit')
    .execute()
  // A discount that has reached its usage limit must disappear from the storefront.
  if (written.some((row) => row.usage_limit !== null)) await markStorefrontChanged(ctx)
}
