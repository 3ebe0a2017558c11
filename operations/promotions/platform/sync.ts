/** Both sides together: what the platform has is compared with what is saved, and made the same (rule 8). */

import { sql } from 'kysely'
import type { EcommercePort } from '#operations/store/door'
import { connections, discountHash, isAmong, type LiveDiscount, recordset } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { intentLastsMs } from '../discounts/intents.ts'
import { referenceOf } from '../discounts/kinds.ts'
import { answered } from '../discounts/platform-call.ts'
import { isLive, type Saved, type SyncStatus, savedOf } from '../discounts/rows.ts'
import { discountReconcile } from '../handles.ts'
import { kindOf } from './all-kinds.ts'
import { allowedKinds, openRepair, settleIntent } from './reconcile.ts'

type Connected = connections.Connected<EcommercePort>

const askedAtOnce = 100

/** A restored database has forgotten how far the platform's revisions went: further steps reach beyond them. */
const strides = [1, 100, 10_000]

/**
 * Reads the usage, puts what is missing or differs, removes what nobody wants there. Discounts with an open intent are
 * left to it. Not inside a transaction; does nothing where no platform is connected. Throws `Unavailable`.
 */
export async function syncDiscounts(ctx: Context, signal: AbortSignal): Promise<void> {
  const connected = await connections.ecommerce(ctx)
  if (!connected) return
  await requeueIntents(ctx)
  await readUsage(ctx, connected)
  const refused = new Set<string>()
  for (const stride of strides) {
    const { differing, orphans } = await compare(ctx, connected)
    for (const orphan of orphans) {
      signal.throwIfAborted()
      await removeOrphan(connected, orphan)
    }
    const mendable = differing.filter(({ discount }) => !refused.has(discount.id))
    if (mendable.length === 0) return
    for (const { discount, live } of mendable) {
      signal.throwIfAborted()
      const revision = Math.max(discount.revision, live?.revision ?? 0) + stride
      if ((await repair(ctx, discount, revision)) === 'failed') refused.add(discount.id)
    }
  }
}

interface Differing {
  discount: Saved
  live: LiveDiscount | undefined
}

/** What differs, and what is there without a row; where both sides agree that is noted. */
async function compare(
  ctx: Context,
  { port, store }: Connected,
): Promise<{ differing: Differing[]; orphans: LiveDiscount[] }> {
  // In this order: one that is being made meanwhile has its intent before it is listed, and its row when that is gone.
  const listed = await answered(port.listDiscounts(store))
  const open = await openIntents(ctx)
  const saved = await allDiscounts(ctx)
  const allowed = await allowedKinds(ctx)
  const there = new Map(listed.map((each) => [each.reference, each]))
  const now = ctx.now()
  const differing: Differing[] = []
  const agreed: { id: string; status: string }[] = []
  for (const discount of saved) {
    const reference = referenceOf(discount.kind, discount.id)
    const live = there.get(reference)
    there.delete(reference)
    if (open.has(discount.id)) continue
    const shouldBe = isLive(discount, now)
    const isAllowed = allowed.has(discount.kind)
    if (isAgreed(discount, shouldBe && isAllowed, live)) {
      const status = !shouldBe ? 'none' : isAllowed ? 'synced' : 'suspended'
      agreed.push({ id: discount.id, status })
    } else differing.push({ discount, live })
  }
  await noteAgreed(ctx, agreed)
  return { differing, orphans: [...there.values()].filter(({ reference }) => !open.has(idOf(reference))) }
}

function isAgreed(discount: Saved, shouldBe: boolean, live: LiveDiscount | undefined): boolean {
  if (!shouldBe || !live) return !shouldBe && !live
  const { kind, id, revision } = discount
  return live.hash === discountHash(kindOf(kind).spec(id, revision, discount))
}

const idOf = (reference: string): string => reference.slice(reference.indexOf(':') + 1)

/** Null: somebody else is writing it. */
async function repair(ctx: Context, { id, kind }: Saved, revision: number): Promise<SyncStatus | null> {
  const token = await ctx.transaction((tx) => openRepair(tx, kindOf(kind), id, revision))
  return token === null ? null : settleIntent(ctx, id, token)
}

const removeOrphan = ({ port, store }: Connected, { reference, revision }: LiveDiscount): Promise<void> =>
  answered(port.removeDiscount(store, reference, revision + 1))

/** Whose job was given up while the platform was silent. */
async function requeueIntents(ctx: Context): Promise<void> {
  const stale = await ctx.db
    .selectFrom('discount_intents')
    .select(['discount_id', 'token'])
    .where('created_at', '<=', new Date(ctx.now().getTime() - intentLastsMs))
    .execute()
  for (const { discount_id: discountId, token } of stale) {
    await ctx.queue(discountReconcile, { discountId, token })
  }
}

async function openIntents(ctx: Context): Promise<ReadonlySet<string>> {
  const rows = await ctx.db.selectFrom('discount_intents').select('discount_id').execute()
  return new Set(rows.map((row) => row.discount_id))
}

async function allDiscounts(ctx: Context): Promise<Saved[]> {
  const rows = await ctx.db.selectFrom('discounts').selectAll().orderBy('id').execute()
  return rows.map(savedOf)
}

/** Where both sides agree already. */
async function noteAgreed(ctx: Context, agreed: readonly { id: string; status: string }[]): Promise<void> {
  for (const status of ['none', 'synced', 'suspended'] as const) {
    const ids = agreed.filter((each) => each.status === status).map(({ id }) => id)
    if (ids.length === 0) continue
    // Not over an intent that was opened meanwhile: what it writes is newer.
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

/** A platform may count the orders and not add up what was taken off (Shopify): the sum then stays as it is. */
async function readUsage(ctx: Context, { port, store }: Connected): Promise<void> {
  const rows = await ctx.db.selectFrom('discounts').select(['id', 'kind']).orderBy('id').execute()
  for (let i = 0; i < rows.length; i += askedAtOnce) {
    const ids = new Map<string, string>(
      rows.slice(i, i + askedAtOnce).map(({ id, kind }) => [`${kind}:${id}`, id]),
    )
    const usage = await answered(port.discountUsage(store, [...ids.keys()]))
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
  // One that is used up is shown no more.
  if (written.some((row) => row.usage_limit !== null)) await changed(ctx)
}
