/** Bringing the platform back to what is saved: after a call that failed, and where the two differ. */
import { connections, entitlementOf, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import type { KindName } from '../discounts/draft.ts'
import { closeIntent, type Intent, intentRow, isStillOurs, openIntent } from '../discounts/intents.ts'
import { type Kind, referenceOf } from '../discounts/kinds.ts'
import { answered } from '../discounts/platform-call.ts'
import { isLive, type Saved, type SyncStatus, savedOf } from '../discounts/rows.ts'
import { allKinds, kindOf } from './all-kinds.ts'

type Outcome = { status: 'synced' | 'none' | 'suspended'; error: null } | { status: 'failed'; error: string }

/**
 * Brings the platform to the saved row of an open intent and closes it; does nothing where the intent is closed or
 * another's (null). Not inside a transaction. Throws `Unavailable` where the platform is silent: the intent stays open.
 */
export async function settleIntent(
  ctx: Context,
  discountId: string,
  token: string,
): Promise<SyncStatus | null> {
  const claimed = await ctx.transaction((tx) => claim(tx, discountId, token))
  if (!claimed) return null
  const { intent, kind, saved } = claimed
  const outcome = await bring(ctx, kind, saved, intent)
  await ctx.transaction((tx) => writeOutcome(tx, kind, intent, outcome))
  return outcome.status
}

interface Claimed {
  intent: Intent
  kind: Kind
  saved: Saved | null
}

/** A higher revision than any call before, so that none of them can win; whoever waits for theirs finds it is over. */
async function claim(ctx: Context, discountId: string, token: string): Promise<Claimed | null> {
  await ctx.lockStore()
  const open = await intentRow(ctx, discountId).forUpdate().executeTakeFirst()
  if (open?.token !== token) return null
  const saved = await lockSaved(ctx, discountId)
  const revision = Math.max(open.revision, saved?.revision ?? 0) + 1
  await ctx.db
    .updateTable('discount_intents')
    .set({ revision, is_reserving: false })
    .where('discount_id', '=', discountId)
    .execute()
  return { intent: { discountId, token, revision }, kind: kindOf(open.kind as KindName), saved }
}

async function lockSaved(ctx: Context, id: string): Promise<Saved | null> {
  const row = await ctx.db
    .selectFrom('discounts')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ? savedOf(row) : null
}

/** Puts what shall be there, removes what shall not; a refusal is an outcome. */
async function bring(ctx: Context, kind: Kind, saved: Saved | null, intent: Intent): Promise<Outcome> {
  const shouldBe = saved !== null && isLive(saved, ctx.now())
  const isAllowed = shouldBe && (await allowedKinds(ctx)).has(kind.name)
  const connected = await connections.ecommerce(ctx)
  const without: Outcome = { status: shouldBe && !isAllowed ? 'suspended' : 'none', error: null }
  if (!connected) return without
  const { port, store } = connected
  try {
    if (isAllowed) {
      await answered(port.putDiscount(store, kind.spec(saved.id, intent.revision, saved)))
      return { status: 'synced', error: null }
    }
    await answered(port.removeDiscount(store, referenceOf(kind.name, intent.discountId), intent.revision))
    return without
  } catch (error) {
    if (error instanceof Refused) return { status: 'failed', error: error.message }
    throw error
  }
}

/** Kinds that plan and subscription allow now. */
export async function allowedKinds(ctx: Context): Promise<ReadonlySet<KindName>> {
  const { features, canWrite } = await entitlementOf(ctx)
  return new Set(allKinds.filter(({ feature }) => canWrite && features.has(feature)).map(({ name }) => name))
}

async function writeOutcome(ctx: Context, kind: Kind, intent: Intent, outcome: Outcome): Promise<void> {
  await ctx.lockStore()
  if (!(await isStillOurs(ctx, intent))) return
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
    if (error !== null && saved.syncStatus !== 'failed') await tellOfRefusal(ctx, kind, saved, error)
  }
  await closeIntent(ctx, intent)
}

/** Once for each time that it begins to fail. */
async function tellOfRefusal(ctx: Context, kind: Kind, saved: Saved, reason: string): Promise<void> {
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

/** Opens an intent for a discount that the platform has otherwise, unless one is open (null). Answers its token. */
export async function openRepair(
  ctx: Context,
  kind: Kind,
  discountId: string,
  revision: number,
): Promise<string | null> {
  await ctx.lockStore()
  const open = await intentRow(ctx, discountId).executeTakeFirst()
  const saved = open ? null : await lockSaved(ctx, discountId)
  if (!saved) return null
  const token = ctx.newId()
  const intent = { discountId, token, revision }
  await openIntent(ctx, { ...intent, kind, action: 'repair', wanted: null, takesPlace: false })
  return token
}
