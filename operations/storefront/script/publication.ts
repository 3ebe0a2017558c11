/** Publishes the loader, the one script of all widgets, on the store's platform. */

import { sql } from 'kysely'
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { storefrontScriptPublish } from '../handles.ts'

const scriptPath = (ctx: Context): string => `/storefront/${ctx.store.publicId}/loader.js`
/** The URL that the platform's pages load. */
const scriptUrl = (ctx: Context): string => ctx.settings.publicUrl + scriptPath(ctx)

/** The storefront revision of a store that has not saved anything for its storefront yet. */
const initialRevision = 1
const noAnswer = 'Your platform did not answer. Save the settings again to try once more.'

/**
 * Queues the job that installs the loader on the platform, even if it is known to be installed. Runs in the caller's
 * transaction. Does nothing without a connected platform.
 */
export async function publish(ctx: Context): Promise<void> {
  if (await claim(ctx, true)) await ctx.queue(storefrontScriptPublish, {})
}

/** Queues the job unless the loader is known to be installed or in progress. */
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
      // `excluded` instead of values: Citus would lose parameters here.
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

/**
 * Installs the loader on the platform. If the platform refuses, records the failure and does not throw. Throws
 * `Unavailable` if the platform does not answer. Not inside a transaction.
 */
export async function install(ctx: Context): Promise<void> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return saveState(ctx, { state: 'none', script_id: null, installed_at: null, message: null })
  try {
    const { id } = await connected.port.ensureScript(connected.store, { src: scriptUrl(ctx) })
    // Without an id, the merchant has to switch on an embed block: the loader counts as installed once a storefront
    // requests it.
    const isThere = id !== null
    await saveState(ctx, {
      state: isThere ? 'installed' : 'none',
      script_id: id,
      installed_at: isThere ? ctx.now() : null,
      message: null,
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    await saveState(ctx, { state: 'failed', message: error.message })
  }
}

/**
 * Sends the loader's URL to the platform's embed block. This is also needed if the loader was installed as a script tag
 * before, or if the URL of this server has changed. On a platform without embed blocks, installs a loader again that is
 * there with another URL of this server; one that the merchant removed stays removed. Throws `Unavailable` if the
 * platform does not answer. Not inside a transaction.
 */
export async function sendLoaderUrl(ctx: Context): Promise<void> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return
  const { port, store } = connected
  const src = scriptUrl(ctx)
  try {
    if (port.activationLink) await port.ensureScript(store, { src })
    else {
      const ours = (await port.listScripts(store)).filter((script) => script.src.endsWith(scriptPath(ctx)))
      if (ours.length > 0 && !ours.some((script) => script.src === src)) await install(ctx)
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error }, 'loader url not sent to platform')
  }
}

/** Removes the loader's script tag, which the merchant's embed block makes redundant. Not inside a transaction. */
export async function removeScript(ctx: Context): Promise<void> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected?.port.removeScript) return
  await connected.port.removeScript(connected.store, { src: scriptUrl(ctx) })
  await saveState(ctx, { state: 'none', script_id: null, installed_at: null, message: null })
}

/** Records a failed installation, once all retries of the job are used up. */
export async function markFailed(ctx: Context): Promise<void> {
  await saveState(ctx, { state: 'failed', message: noAnswer })
}

interface StateChange {
  state: string
  message: string | null
  script_id?: string | null
  installed_at?: Date | null
  last_seen_at?: Date | null
}

async function saveState(ctx: Context, change: StateChange): Promise<void> {
  const values = { ...change, updated_at: ctx.now() }
  await ctx.db
    .insertInto('storefront_scripts')
    .values(values)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(values))
    .execute()
}

/** Resets the state, because a newly connected platform has no loader yet. Runs in the transaction that connects. */
export async function platformConnected(ctx: Context): Promise<void> {
  await saveState(ctx, {
    state: 'none',
    script_id: null,
    installed_at: null,
    last_seen_at: null,
    message: null,
  })
  const store = await ctx.db.selectFrom('stores').select('storefront_revision').executeTakeFirstOrThrow()
  const connected = await connections.findEcommerce(ctx)
  // With an embed block, publishes even if there is nothing to show yet: the merchant may switch the block on at any time.
  if (store.storefront_revision > initialRevision || connected?.port.activationLink) await publish(ctx)
}

/** Records that a storefront requested the loader. Writes at most once a minute. */
export async function recordSeen(ctx: Context): Promise<void> {
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

/** Records that the embed block requested the loader, and queues the removal of a redundant script tag. */
export async function recordEmbedSeen(ctx: Context): Promise<void> {
  await recordSeen(ctx)
  const row = await ctx.db.selectFrom('storefront_scripts').select('script_id').executeTakeFirst()
  if (row?.script_id) await ctx.queue(storefrontScriptPublish, { isEmbedded: true })
}

/** Without any request for this long the loader counts as removed, since an active shop has visitors more often. */
const seenTimeoutMs = 3 * dayMs

export interface Publication {
  state: 'publishing' | 'failed' | 'not-installed' | 'installed'
  scriptUrl: string
  /** The platform's id of the script. */
  scriptId: string | null
  installedAt: Date | null
  lastSeenAt: Date | null
  /** When the platform was called for this state; null if no platform is connected. */
  checkedAt: Date | null
  /** Why the installation failed, or what the merchant has to do. */
  message: string | null
}

/**
 * Reads the state live from the platform. Writes nothing. Must not be called inside a transaction. Throws `Unavailable`
 * if the platform does not answer.
 */
export async function readState(ctx: Context): Promise<Publication> {
  const row = await ctx.db.selectFrom('storefront_scripts').selectAll().executeTakeFirst()
  const url = scriptUrl(ctx)
  const connected = await connections.findEcommerce(ctx)
  const scripts = connected ? await connected.port.listScripts(connected.store) : []
  const script = scripts.find(({ src }) => src === url)
  const lastSeenAt = row?.last_seen_at ?? null
  // Recent requests prove an installation of any kind, for example in the theme itself. They do not count if the script tag
  // that we installed is gone: then somebody removed it.
  const isRemoved = row?.script_id && !script && !connected?.port.activationLink
  const isSeen = !isRemoved && lastSeenAt !== null && ctx.clock.ms() - lastSeenAt.getTime() <= seenTimeoutMs
  const state =
    row?.state === 'publishing' || (row?.state === 'failed' && !isSeen)
      ? row.state
      : script || isSeen
        ? 'installed'
        : 'not-installed'
  const needsActivation = state === 'not-installed' && connected?.port.activationLink
  const link = needsActivation ? await connected.port.activationLink!(connected.store) : null
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
