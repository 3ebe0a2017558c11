/** Writing discounts, here and on the platform: both or neither (rule 1). */
import { isDeepStrictEqual } from 'node:util'
import type { EcommercePort } from '#operations/store/door'
import { connections, files } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { Refusal, refuse, refuseForNow } from '#runtime/errors'
import { Refused, Throttled } from '#runtime/ports/errors'
import type { Draft, KindName } from './draft.ts'
import {
  closeIntent,
  type Intent,
  intentRow,
  isOursInTime,
  openIntent,
  releaseReservation,
  requireFreeName,
  requirePlace,
  takeableIntent,
} from './intents.ts'
import { type Kind, referenceOf } from './kinds.ts'
import { answered } from './platform-call.ts'
import { findDiscount, isLive, type Saved } from './rows.ts'

type Connected = connections.Connected<EcommercePort>

/** Of a discount: what it was, what it shall be; null: not there. */
interface Write {
  kind: Kind
  id: string
  before: Saved | null
  after: Draft | null
}

/** `tookOver`: an older call may have left the platform with something that was never saved. */
type Begun = Intent & { tookOver: boolean }

const triesAtMost = 3

/** Answers its id. Not inside a transaction. Refused (rule 1), or where the platform is silent, nothing is made. */
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
 * Changes one to what `plan` makes of it. `plan` may ask the platform, and is asked again where somebody else changed
 * it meanwhile. What is the same afterwards changes nothing. Not inside a transaction. May be refused (rule 1).
 */
export async function changeDiscount<C extends object>(
  ctx: Context,
  kind: Kind<C>,
  id: string,
  plan: (before: Saved<C>) => Promise<Draft<C>>,
): Promise<void> {
  for (let tries = 0; tries < triesAtMost; tries += 1) {
    const before = await findDiscount(ctx, kind, id)
    const after = await plan(before as Saved<C>)
    if (isSame(before, after)) return
    if (await write(ctx, { kind: kind as unknown as Kind, id: before.id, before, after })) return
  }
  throw refuse('conflict', `Others change this ${kind.noun} at the same time: read it again`)
}

/** Takes it off the platform, then away. Not inside a transaction. May be refused (rule 1). */
export async function deleteDiscount<C extends object>(
  ctx: Context,
  kind: Kind<C>,
  id: string,
): Promise<void> {
  for (let tries = 0; tries < triesAtMost; tries += 1) {
    const before = await findDiscount(ctx, kind, id)
    if (await write(ctx, { kind: kind as unknown as Kind, id: before.id, before, after: null })) return
  }
  throw refuseForNow('conflict', `Others change this ${kind.noun} at the same time: try again`)
}

function isSame(before: Draft, after: Draft): boolean {
  const { name, isActive, startsAt, endsAt, content } = before
  return isDeepStrictEqual({ name, isActive, startsAt, endsAt, content }, { ...after })
}

/** False: somebody else changed it since it was read. */
async function write(ctx: Context, change: Write): Promise<boolean> {
  const { before, after, id } = change
  const now = ctx.now()
  const wasLive = before !== null && isLive(before, now)
  const willBeLive = after !== null && isLive({ ...after, usageCount: before?.usageCount ?? 0 }, now)
  // What ended or was refused may be there still; so may what an older call, unheard of, has put there.
  const mayBeThere =
    (after === null && before !== null && before.syncStatus !== 'none') ||
    (await intentRow(ctx, id).executeTakeFirst()) !== undefined
  const takesPlace = willBeLive && !wasLive
  if (!wasLive && !willBeLive && !mayBeThere) return ctx.transaction((tx) => writeHere(tx, change))
  const connected = await connections.requireEcommerce(ctx)
  const maxLive = takesPlace ? await requireCapable(connected, change.kind) : null
  const intent = await ctx.transaction((tx) => begin(tx, change, { takesPlace, maxLive }))
  if (!intent) return false
  try {
    await tell(connected, change, willBeLive, intent.revision)
  } catch (error) {
    throw await given(ctx, change.kind, intent, error)
  }
  const isDone = await ctx.transaction((tx) => finish(tx, change, intent, willBeLive))
  // Whoever took over brings the platform back to what is saved.
  if (!isDone) throw refuse('unavailable', 'Your platform answered too late: nothing was changed, try again')
  return true
}

async function requireCapable({ port, store }: Connected, kind: Kind): Promise<number | null> {
  const { kinds, maxLive } = await answered(port.discountCapabilities(store))
  if (!kinds.includes(kind.portKind)) {
    throw refuse('conflict', `Your platform cannot apply a ${kind.noun} at checkout`)
  }
  return maxLive
}

/** Whether it is as it was read, and may be what it shall be. Under the store's lock, which it takes. */
async function isAsRead(
  ctx: Context,
  { kind, id, before, after }: Write,
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
  if (place.isNew || place.isLive) await requirePlace(ctx, kind, id, place)
  return true
}

/** A change that the platform has nothing to do with. */
async function writeHere(ctx: Context, change: Write): Promise<boolean> {
  await ctx.lockStore()
  if (!(await isAsRead(ctx, change, { takesPlace: false, maxLive: null }))) return false
  // One that was opened since: its call may be on its way.
  if (await takeableIntent(ctx, change.kind.noun, change.id)) return false
  await save(ctx, change, (change.before?.revision ?? 0) + 1, null)
  return true
}

/** Transaction A. */
async function begin(
  ctx: Context,
  change: Write,
  wants: { takesPlace: boolean; maxLive: number | null },
): Promise<Begun | null> {
  await ctx.lockStore()
  const { kind, id, before, after } = change
  const open = await takeableIntent(ctx, kind.noun, id)
  if (!(await isAsRead(ctx, change, wants))) return null
  const revision = Math.max(before?.revision ?? 0, open?.revision ?? 0) + 1
  const intent = { discountId: id, token: ctx.newId(), revision, tookOver: open !== null }
  const action = before === null ? 'create' : after === null ? 'remove' : 'change'
  await openIntent(ctx, { ...intent, kind, action, wanted: after, takesPlace: wants.takesPlace })
  return intent
}

async function tell(
  { port, store }: Connected,
  { kind, id, after }: Write,
  willBeLive: boolean,
  revision: number,
): Promise<void> {
  if (after && willBeLive) await answered(port.putDiscount(store, kind.spec(id, revision, after)))
  else await answered(port.removeDiscount(store, referenceOf(kind.name, id), revision))
}

/** What the caller is told of a call that failed; what the platform refused, or never took, is over. */
async function given(ctx: Context, kind: Kind, intent: Begun, error: unknown): Promise<unknown> {
  const isOver = error instanceof Refused || error instanceof Throttled
  if (isOver && !intent.tookOver) await closeIntent(ctx, intent)
  else await releaseReservation(ctx, intent)
  if (!isOver) return error
  if (error instanceof Throttled) return error
  const isOfField = /^[a-z][A-Za-z0-9.]*: /.test(error.message)
  const message = isOfField ? error.message : `Your platform refused the ${kind.noun}: ${error.message}`
  return new Refusal(isOfField ? 'bad_request' : 'conflict', message)
}

/** Transaction B. */
async function finish(ctx: Context, change: Write, intent: Intent, isThere: boolean): Promise<boolean> {
  await ctx.lockStore()
  if (!(await isOursInTime(ctx, intent))) return false
  await save(ctx, change, intent.revision, { isThere })
  await closeIntent(ctx, intent)
  return true
}

/** `told`: what the platform has now; null: it was not asked. */
async function save(
  ctx: Context,
  { kind, id, before, after }: Write,
  revision: number,
  told: { isThere: boolean } | null,
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
      ...(told && { sync_status: told.isThere ? 'synced' : 'none', sync_error: null, synced_at: now }),
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
  await files.keepNamed(ctx, fileOwner(kind.name, id), kind.schema, named)
  if (after) await kind.written?.(ctx, id)
  await changed(ctx)
}

const fileOwner = (kind: KindName, id: string): string => `${kind}:${id}`
