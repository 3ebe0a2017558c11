/** Whether the loader, the one script of all widgets, is on the store's platform. */

import { sql } from 'kysely'
import { connections } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { storefrontScriptPublish } from '../handles.ts'

/** What the platform's pages load. */
const scriptUrl = (ctx: Context): string =>
  `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/loader.js`

/** The revision of a store that never saved anything for its storefront. */
const untouched = 1
const noAnswer = 'Your platform did not answer. Save the settings again to try once more.'

/**
 * Queues the job that puts the loader on the platform, in the caller's transaction, whatever is known of it. Does
 * nothing where no platform is connected.
 */
export async function publish(ctx: Context): Promise<void> {
  if (await claim(ctx, true)) await ctx.queue(storefrontScriptPublish, {})
}

/** The same, unless the loader is known to be there or on its way. */
export async function publishIfMissing(ctx: Context): Promise<void> {
  if (await claim(ctx, false)) await ctx.queue(storefrontScriptPublish, {})
}

async function claim(ctx: Context, always: boolean): Promise<boolean> {
  const now = ctx.now()
  const claimed = await ctx.db
    .insertInto('storefront_scripts')
    .columns(['state', 'updated_at'])
    .expression((db) =>
      db
        .selectFrom('connections')
        .where('port', '=', 'ecommerce')
        .where('connected_at', 'is not', null)
        .select((eb) => [
          eb.cast<string>(eb.val('publishing'), 'text').as('state'),
          eb.cast<Date>(eb.val(now), 'timestamptz').as('updated_at'),
        ]),
    )
    .onConflict((conflict) => {
      // Without values of its own: a cluster would lose those of the row.
      const update = conflict.column('store_id').doUpdateSet((eb) => ({
        state: eb.ref('excluded.state'),
        message: eb.ref('excluded.message'),
        updated_at: eb.ref('excluded.updated_at'),
      }))
      return always
        ? update
        : update.where(sql<boolean>`storefront_scripts.state not in ('installed', 'publishing')`)
    })
    .returning('state')
    .executeTakeFirst()
  return claimed !== undefined
}

/** Puts the loader on the platform. Not inside a transaction. Throws `Unavailable`; a refusal is final, and noted. */
export async function install(ctx: Context): Promise<void> {
  const connected = await connections.ecommerce(ctx)
  if (!connected) return note(ctx, { state: 'none', script_id: null, installed_at: null, message: null })
  try {
    const { id } = await connected.port.ensureScript(connected.store, { src: scriptUrl(ctx) })
    // What the merchant has to switch on is seen once it works.
    const isThere = id !== null
    await note(ctx, {
      state: isThere ? 'installed' : 'none',
      script_id: id,
      installed_at: isThere ? ctx.now() : null,
      message: null,
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    await note(ctx, { state: 'failed', message: error.message })
  }
}

/**
 * What the merchant switches on knows where the loader is, also where it was put there in another way before, or this
 * server moved. Not inside a transaction. Throws `Unavailable`.
 */
export async function remind(ctx: Context): Promise<void> {
  const connected = await connections.ecommerce(ctx)
  if (!connected?.port.activationLink) return
  try {
    await connected.port.ensureScript(connected.store, { src: scriptUrl(ctx) })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'the platform was not told where the loader is')
  }
}

/** What the merchant switched on does its work: what was put there for the same goes. Not inside a transaction. */
export async function retire(ctx: Context): Promise<void> {
  const connected = await connections.ecommerce(ctx)
  if (!connected?.port.removeScript) return
  await connected.port.removeScript(connected.store, { src: scriptUrl(ctx) })
  await note(ctx, { state: 'none', script_id: null, installed_at: null, message: null })
}

/** The platform did not answer, however often it was asked. */
export async function giveUp(ctx: Context): Promise<void> {
  await note(ctx, { state: 'failed', message: noAnswer })
}

interface Note {
  state: string
  message: string | null
  script_id?: string | null
  installed_at?: Date | null
  last_seen_at?: Date | null
}

async function note(ctx: Context, change: Note): Promise<void> {
  const noted = { ...change, updated_at: ctx.now() }
  await ctx.db
    .insertInto('storefront_scripts')
    .values(noted)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(noted))
    .execute()
}

/** Another platform: it has no loader yet. In the transaction that connects. */
export async function platformConnected(ctx: Context): Promise<void> {
  await note(ctx, { state: 'none', script_id: null, installed_at: null, last_seen_at: null, message: null })
  const store = await ctx.db.selectFrom('stores').select('storefront_revision').executeTakeFirstOrThrow()
  const connected = await connections.ecommerce(ctx)
  // Where the merchant switches it on, they may do so before anything is to be seen.
  if (store.storefront_revision > untouched || connected?.port.activationLink) await publish(ctx)
}

/** A storefront asked for us; written down once a minute. */
export async function seen(ctx: Context): Promise<void> {
  const now = ctx.now()
  const minuteAgo = new Date(now.getTime() - 60_000)
  await ctx.db
    .insertInto('storefront_scripts')
    .values({ last_seen_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .column('store_id')
        .doUpdateSet({ last_seen_at: now })
        .where(({ or, eb }) =>
          or([
            eb('storefront_scripts.last_seen_at', 'is', null),
            eb('storefront_scripts.last_seen_at', '<=', minuteAgo),
          ]),
        ),
    )
    .execute()
}

/** The block that the merchant switched on asked, as ever so often: a tag that does the same goes. */
export async function embedSeen(ctx: Context): Promise<void> {
  await seen(ctx)
  const row = await ctx.db.selectFrom('storefront_scripts').select('script_id').executeTakeFirst()
  if (row?.script_id) await ctx.queue(storefrontScriptPublish, { isEmbedded: true })
}

/** A shop has visitors within it: who was not seen for so long is not there any more. */
const seenForMs = 3 * dayMs

export interface Publication {
  state: 'publishing' | 'failed' | 'not-installed' | 'installed'
  scriptUrl: string
  /** The platform's own id. */
  scriptId: string | null
  installedAt: Date | null
  lastSeenAt: Date | null
  /** When the platform was asked; null where none is connected. */
  checkedAt: Date | null
  /** Why it failed, or what the merchant has to do. */
  message: string | null
}

/** Asks the platform live. Writes nothing. Not inside a transaction; throws `Unavailable` where it does not answer. */
export async function stateOf(ctx: Context): Promise<Publication> {
  const row = await ctx.db.selectFrom('storefront_scripts').selectAll().executeTakeFirst()
  const url = scriptUrl(ctx)
  const connected = await connections.ecommerce(ctx)
  const scripts = connected ? await connected.port.listScripts(connected.store) : []
  const script = scripts.find(({ src }) => src === url)
  const lastSeenAt = row?.last_seen_at ?? null
  // However it came there: a theme may have it in its own text. What we put there and is gone, somebody took away.
  const isTaken = row?.script_id && !script && !connected?.port.activationLink
  const isSeen = !isTaken && lastSeenAt !== null && ctx.clock.ms() - lastSeenAt.getTime() <= seenForMs
  const state =
    row?.state === 'publishing' || (row?.state === 'failed' && !isSeen)
      ? row.state
      : script || isSeen
        ? 'installed'
        : 'not-installed'
  const isWaited = state === 'not-installed' && connected?.port.activationLink
  const link = isWaited ? await connected.port.activationLink!(connected.store) : null
  return {
    state,
    scriptUrl: url,
    scriptId: script?.id ?? null,
    installedAt: script ? (row?.installed_at ?? script.createdAt) : null,
    lastSeenAt,
    checkedAt: connected ? ctx.now() : null,
    message: state === 'failed' ? row!.message : link && `Switch it on in your theme, and save: ${link}`,
  }
}
