/** Writes discounts here and on the platform: a write is applied in both places or in neither (rule 1). */
import { isDeepStrictEqual } from 'node:util'
import type { EcommercePort } from '#operations/store/index'
import { connections, files } from '#operations/store/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { ApiError, refuse, refuseTemporarily } from '#runtime/errors'
import { Refused, Throttled } from '#runtime/ports/errors'
import type { Draft, KindName } from './draft.ts'
import {
  closeIntent,
  findExpiredIntent,
  type Intent,
  openIntent,
  ownsFreshIntent,
  releaseReservation,
  requireCapacity,
  requireFreeName,
  selectIntent,
} from './intents.ts'
import { buildReference, type Kind } from './kinds.ts'
import { withAnswerTimeout } from './platform-call.ts'
import { findDiscount, isLive, type Saved } from './rows.ts'

type Connected = connections.Connected<EcommercePort>

/** A write of a discount. `before` is null when it is created, `after` is null when it is deleted. */
interface DiscountWrite {
  kind: Kind
  id: string
  before: Saved | null
  after: Draft | null
}

/** `tookOver` is true if the intent was taken over: an older call may have left an unsaved state on the platform. */
type OpenedIntent = Intent & { tookOver: boolean }

const maxAttempts = 3

/**
 * Creates a discount and returns its id. Creates nothing if the write is refused (rule 1) or the platform does not answer.
 * Not inside a transaction.
 */
export async function createDiscount<C extends object>(
  ctx: Context,
  kind: Kind<C>,
  draft: Draft<C>,
): Promise<string> {
  const id = ctx.newId()
  await write(ctx, { kind: kind as unknown as Kind, id, before: null, after: draft })
  return id
}

/**
 * Changes a discount to the result of `plan`; writes nothing if the result is equal. `plan` may call the platform, and runs
 * again after a concurrent change. May be refused (rule 1). Not inside a transaction.
 */
export async function changeDiscount<C extends object>(
  ctx: Context,
  kind: Kind<C>,
  id: string,
  plan: (before: Saved<C>) => Promise<Draft<C>>,
): Promise<void> {
  for (let tries = 0; tries < maxAttempts; tries += 1) {
    const before = await findDiscount(ctx, kind, id)
    const after = await plan(before as Saved<C>)
    if (isSame(before, after)) return
    if (await write(ctx, { kind: kind as unknown as Kind, id: before.id, before, after })) return
  }
  throw refuse('conflict', `Others change this ${kind.noun} at the same time: read it again`)
}

/** Removes a discount from the platform, then deletes it here. May be refused (rule 1). Not inside a transaction. */
export async function deleteDiscount<C extends object>(
  ctx: Context,
  kind: Kind<C>,
  id: string,
): Promise<void> {
  for (let tries = 0; tries < maxAttempts; tries += 1) {
    const before = await findDiscount(ctx, kind, id)
    if (await write(ctx, { kind: kind as unknown as Kind, id: before.id, before, after: null })) return
  }
  throw refuseTemporarily('conflict', `Others change this ${kind.noun} at the same time: try again`)
}

function isSame(before: Draft, after: Draft): boolean {
  const { name, isActive, startsAt, endsAt, content } = before
  return isDeepStrictEqual({ name, isActive, startsAt, endsAt, content }, { ...after })
}

/** Writes a change. Returns false if the discount was changed concurrently (optimistic lock). */
async function write(ctx: Context, change: DiscountWrite): Promise<boolean> {
  const { before, after, id } = change
  const now = ctx.now()
  const wasLive = before !== null && isLive(before, now)
  const willBeLive = after !== null && isLive({ ...after, usageCount: before?.usageCount ?? 0 }, now)
  // A discount that is not live may still be on the platform: it was synced before, or an older call was not answered.
  const mayBeThere =
    (after === null && before !== null && before.syncStatus !== 'none') ||
    (await selectIntent(ctx, id).executeTakeFirst()) !== undefined
  const takesPlace = willBeLive && !wasLive
  if (!wasLive && !willBeLive && !mayBeThere) return ctx.transaction((tx) => writeLocally(tx, change))
  const connected = await connections.requireEcommerce(ctx)
  const maxLive = takesPlace ? await requireCapable(connected, change.kind) : null
  const intent = await ctx.transaction((tx) => openWrite(tx, change, { takesPlace, maxLive }))
  if (!intent) return false
  try {
    await sendToPlatform(connected, change, willBeLive, intent.revision, ctx.store.currency)
  } catch (error) {
    throw await handleFailedCall(ctx, change.kind, intent, error)
  }
  const isDone = await ctx.transaction((tx) => commitWrite(tx, change, intent, willBeLive))
  // Another process took over the intent. It brings the platform back to the saved state.
  if (!isDone) throw refuse('unavailable', 'Your platform answered too late: nothing was changed, try again')
  return true
}

async function requireCapable({ port, store }: Connected, kind: Kind): Promise<number | null> {
  const { kinds, maxLive } = await withAnswerTimeout(port.discountCapabilities(store))
  if (!kinds.includes(kind.portKind)) {
    throw refuse('conflict', `Your platform cannot apply a ${kind.noun} at checkout`)
  }
  return maxLive
}

/**
 * Whether the row is unchanged since it was read. Refuses a name that is taken and a write that exceeds a limit. The caller
 * holds the store's lock.
 */
async function isUnchanged(
  ctx: Context,
  { kind, id, before, after }: DiscountWrite,
  wants: { takesPlace: boolean; maxLive: number | null },
): Promise<boolean> {
  if (before) {
    const locked = await findDiscount(ctx, kind, id, { lock: true })
    if (locked.revision !== before.revision || locked.updatedAt.getTime() !== before.updatedAt.getTime()) {
      return false
    }
  }
  if (!after) return true
  if (after.name !== before?.name) await requireFreeName(ctx, kind, id, after.name)
  const place = { isNew: before === null, isLive: wants.takesPlace, maxLive: wants.maxLive }
  if (place.isNew || place.isLive) await requireCapacity(ctx, kind, id, place)
  return true
}

/** Writes a change that does not affect the platform. */
async function writeLocally(ctx: Context, change: DiscountWrite): Promise<boolean> {
  await ctx.lockStore()
  if (!(await isUnchanged(ctx, change, { takesPlace: false, maxLive: null }))) return false
  // The platform call of an intent opened meanwhile may still be running.
  if (await findExpiredIntent(ctx, change.kind.noun, change.id)) return false
  await save(ctx, change, (change.before?.revision ?? 0) + 1, null)
  return true
}

/** The transaction before the platform call: opens the intent. Returns null after a concurrent change. */
async function openWrite(
  ctx: Context,
  change: DiscountWrite,
  wants: { takesPlace: boolean; maxLive: number | null },
): Promise<OpenedIntent | null> {
  await ctx.lockStore()
  const { kind, id, before, after } = change
  const open = await findExpiredIntent(ctx, kind.noun, id)
  if (!(await isUnchanged(ctx, change, wants))) return null
  const revision = Math.max(before?.revision ?? 0, open?.revision ?? 0) + 1
  const intent = { discountId: id, token: ctx.newId(), revision, tookOver: open !== null }
  const action = before === null ? 'create' : after === null ? 'remove' : 'change'
  await openIntent(ctx, { ...intent, kind, action, wanted: after, takesPlace: wants.takesPlace })
  return intent
}

async function sendToPlatform(
  { port, store }: Connected,
  { kind, id, after }: DiscountWrite,
  willBeLive: boolean,
  revision: number,
  currency: string,
): Promise<void> {
  if (after && willBeLive) {
    await withAnswerTimeout(port.putDiscount(store, kind.spec(id, revision, after, currency)))
  } else await withAnswerTimeout(port.removeDiscount(store, buildReference(kind.name, id), revision))
}

/**
 * Returns the caller's error for a failed platform call. Closes the intent if the platform refused or throttled the
 * call.
 */
async function handleFailedCall(
  ctx: Context,
  kind: Kind,
  intent: OpenedIntent,
  error: unknown,
): Promise<unknown> {
  const isOver = error instanceof Refused || error instanceof Throttled
  if (isOver && !intent.tookOver) await closeIntent(ctx, intent)
  else await releaseReservation(ctx, intent)
  if (!isOver) return error
  if (error instanceof Throttled) return error
  const isOfField = /^[a-z][A-Za-z0-9.]*: /.test(error.message)
  const message = isOfField ? error.message : `Your platform refused the ${kind.noun}: ${error.message}`
  return new ApiError(isOfField ? 'bad_request' : 'conflict', message)
}

/** The transaction after the platform call: saves the row and closes the intent. */
async function commitWrite(
  ctx: Context,
  change: DiscountWrite,
  intent: Intent,
  isThere: boolean,
): Promise<boolean> {
  await ctx.lockStore()
  if (!(await ownsFreshIntent(ctx, intent))) return false
  await save(ctx, change, intent.revision, { isThere })
  await closeIntent(ctx, intent)
  return true
}

/** Saves the row. `platformState` says whether the discount is now on the platform; null if the platform was not called. */
async function save(
  ctx: Context,
  { kind, id, before, after }: DiscountWrite,
  revision: number,
  platformState: { isThere: boolean } | null,
): Promise<void> {
  const now = ctx.now()
  if (after) {
    const columns = {
      name: after.name,
      is_active: after.isActive,
      starts_at: after.startsAt,
      ends_at: after.endsAt,
      content: JSON.stringify(after.content),
      revision,
      updated_at: now,
      ...(platformState && {
        sync_status: platformState.isThere ? 'synced' : 'none',
        sync_error: null,
        synced_at: now,
      }),
    }
    if (before) await ctx.db.updateTable('discounts').set(columns).where('id', '=', id).execute()
    else {
      const made = { id, kind: kind.name, currency: ctx.store.currency, created_at: now }
      await ctx.db
        .insertInto('discounts')
        .values({ ...columns, ...made })
        .execute()
    }
  } else await ctx.db.deleteFrom('discounts').where('id', '=', id).execute()
  const named = { before: before?.content, after: after?.content }
  await files.trackFiles(ctx, fileOwner(kind.name, id), kind.schema, named)
  if (after) await kind.written?.(ctx, id)
  await markStorefrontChanged(ctx)
}

const fileOwner = (kind: KindName, id: string): string => `${kind}:${id}`
