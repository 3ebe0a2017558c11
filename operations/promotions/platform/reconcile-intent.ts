/** Brings the platform back to the saved state of a discount, after a failed call or when the two differ. */
import { connections, notify, readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import type { KindName } from '../discounts/draft.ts'
import { closeIntent, type Intent, openIntent, ownsIntent, selectIntent } from '../discounts/intents.ts'
import { buildReference, type Kind } from '../discounts/kinds.ts'
import { withAnswerTimeout } from '../discounts/platform-call.ts'
import { isLive, type Saved, type SyncStatus, toSaved } from '../discounts/rows.ts'
import { allKinds, getKind } from './all-kinds.ts'

type SyncOutcome =
  | { status: 'synced' | 'none' | 'suspended'; error: null }
  | { status: 'failed'; error: string }

/**
 * Brings the platform to the saved state of a discount, and closes its open intent. Returns the new sync status; null
 * when the intent was already closed or taken over. Throws `Unavailable` when the platform does not answer; then the
 * intent stays open. Not inside a transaction.
 */
export async function reconcileIntent(
  ctx: Context,
  discountId: string,
  token: string,
): Promise<SyncStatus | null> {
  const claimed = await ctx.transaction((tx) => claimIntent(tx, discountId, token))
  if (!claimed) return null
  const { intent, kind, saved } = claimed
  const outcome = await bringPlatform(ctx, kind, saved, intent)
  await ctx.transaction((tx) => writeOutcome(tx, kind, intent, outcome))
  return outcome.status
}

interface ClaimedIntent {
  intent: Intent
  kind: Kind
  saved: Saved | null
}

/**
 * Claims the intent with a higher revision than any earlier call, so that an earlier call that arrives late has no
 * effect.
 */
async function claimIntent(ctx: Context, discountId: string, token: string): Promise<ClaimedIntent | null> {
  await ctx.lockStore()
  const open = await selectIntent(ctx, discountId).forUpdate().executeTakeFirst()
  if (open?.token !== token) return null
  const saved = await lockSaved(ctx, discountId)
  const revision = Math.max(open.revision, saved?.revision ?? 0) + 1
  await ctx.db
    .updateTable('discount_intents')
    .set({ revision, is_reserving: false })
    .where('discount_id', '=', discountId)
    .execute()
  return { intent: { discountId, token, revision }, kind: getKind(open.kind as KindName), saved }
}

async function lockSaved(ctx: Context, id: string): Promise<Saved | null> {
  const row = await ctx.db
    .selectFrom('discounts')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ? toSaved(row) : null
}

/** Puts the discount on the platform or removes it. Returns a refusal as an outcome instead of throwing it. */
async function bringPlatform(
  ctx: Context,
  kind: Kind,
  saved: Saved | null,
  intent: Intent,
): Promise<SyncOutcome> {
  const shouldBe = saved !== null && isLive(saved, ctx.now())
  const isAllowed = shouldBe && (await allowedKinds(ctx)).has(kind.name)
  const connected = await connections.findEcommerce(ctx)
  const without: SyncOutcome = { status: shouldBe && !isAllowed ? 'suspended' : 'none', error: null }
  if (!connected) return without
  const { port, store } = connected
  try {
    if (isAllowed) {
      const spec = kind.spec(saved.id, intent.revision, saved, ctx.store.currency)
      await withAnswerTimeout(port.putDiscount(store, spec))
      return { status: 'synced', error: null }
    }
    await withAnswerTimeout(
      port.removeDiscount(store, buildReference(kind.name, intent.discountId), intent.revision),
    )
    return without
  } catch (error) {
    if (error instanceof Refused) return { status: 'failed', error: error.message }
    throw error
  }
}

/** The kinds of discounts that the store's plan and subscription allow now. */
export async function allowedKinds(ctx: Context): Promise<ReadonlySet<KindName>> {
  const { features, canWrite } = await readEntitlement(ctx)
  return new Set(allKinds.filter(({ feature }) => canWrite && features.has(feature)).map(({ name }) => name))
}

async function writeOutcome(ctx: Context, kind: Kind, intent: Intent, outcome: SyncOutcome): Promise<void> {
  await ctx.lockStore()
  if (!(await ownsIntent(ctx, intent))) return
  const saved = await lockSaved(ctx, intent.discountId)
  const { status, error } = outcome
  if (saved) {
    await ctx.db
      .updateTable('discounts')
      .set({
        revision: intent.revision,
        sync_status: status,
        sync_error: error,
        ...(status !== 'failed' && { synced_at: ctx.now() }),
      })
      .where('id', '=', saved.id)
      .execute()
    if (error !== null && saved.syncStatus !== 'failed') await notifyRefusal(ctx, kind, saved, error)
  }
  await closeIntent(ctx, intent)
}

/** Notifies the merchant that the platform refused a discount. Called only when its status changes to failed. */
async function notifyRefusal(ctx: Context, kind: Kind, saved: Saved, reason: string): Promise<void> {
  await notify(ctx, {
    type: 'discount-refused',
    level: 'error',
    title: `Your platform refused the ${kind.noun} ${saved.name}`,
    message: `${reason}. It is tried again each hour; shoppers do not get it meanwhile.`,
    link: kind.path,
    data: { kind: kind.name, id: saved.id },
    dedupeKey: null,
  })
}

/**
 * Opens a repair intent for a discount that differs on the platform. Returns its token; null when an intent is already
 * open.
 */
export async function openRepair(
  ctx: Context,
  kind: Kind,
  discountId: string,
  revision: number,
): Promise<string | null> {
  await ctx.lockStore()
  const open = await selectIntent(ctx, discountId).executeTakeFirst()
  const saved = open ? null : await lockSaved(ctx, discountId)
  if (!saved) return null
  const token = ctx.newId()
  const intent = { discountId, token, revision }
  await openIntent(ctx, { ...intent, kind, action: 'repair', wanted: null, takesPlace: false })
  return token
}
