/**
 * Releases: cleanup that is still due at the provider, such as phones to log out, numbers to release and templates to
 * delete. A release is recorded in the transaction that ends the connection, and retried until it succeeds or is too
 * old.
 */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import { events } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { dayMs, hourMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { unseal } from '#runtime/secrets'
import { messagingCleanup } from '../handles.ts'
import { getProvider, isUnavailable } from './provider.ts'
import { withProviderTimeout } from './provider-timeout.ts'
import { isLive } from './qr-state.ts'

export interface NewRelease {
  kind: 'qr' | 'official' | 'shared' | 'templates'
  provider: string
  /** The encrypted credentials of the connection's row. */
  credentials?: string | null
  /** The provider's id of the QR session or of the account. */
  subject?: string | null
  templates?: readonly { name: string; providerId: string }[]
}

const jobAfterMs = 15_000
const providerTimeoutMs = 8_000
const maxAgeMs = dayMs

/** Records a release in the caller's transaction and queues its job. Returns its id. */
export async function addRelease(ctx: Context, release: NewRelease, inMs = 0): Promise<string> {
  const id = ctx.newId()
  const { kind, provider, credentials = null, subject = null, templates = [] } = release
  await ctx.db
    .insertInto('messaging_releases')
    .values({
      id,
      kind,
      provider,
      credentials,
      subject,
      templates: JSON.stringify(templates),
      created_at: ctx.now(),
    })
    .execute()
  await ctx.queue(messagingCleanup, {}, { at: new Date(ctx.now().getTime() + inMs) })
  return id
}

/** Records a release that the current request tries itself. The job runs only if that try fails or the process dies. */
export const addReleaseForRequest = (ctx: Context, release: NewRelease): Promise<string> =>
  addRelease(ctx, release, jobAfterMs)

/** Tries one release; if the provider does not answer, the job retries. Returns whether it is done. */
export async function tryRelease(ctx: Context, id: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('messaging_releases')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return true
  try {
    await withProviderTimeout(perform(ctx, row), providerTimeoutMs)
  } catch (error) {
    const isOld = ctx.now().getTime() - row.created_at.getTime() >= maxAgeMs
    // Only a refusal by the provider or the maximum age ends the release; an internal error does not.
    if (!(error instanceof Refused) && !isOld) {
      if (!isUnavailable(error)) ctx.log.error({ err: error, kind: row.kind }, 'release failed')
      return false
    }
    // The row is deleted although the cleanup failed, because it contains credentials that are no longer needed.
    ctx.log.warn({ err: error, kind: row.kind }, 'release abandoned')
  }
  await ctx.db.deleteFrom('messaging_releases').where('id', '=', id).execute()
  return true
}

type ReleaseRow = Row<'messaging_releases'>

async function perform(ctx: Context, row: ReleaseRow): Promise<void> {
  const { port } = getProvider(ctx, row.provider)
  const credentials = row.credentials && unseal(ctx.settings, ctx.store.id, row.credentials)
  const store = { id: ctx.store.id, credentials: credentials || null }
  if (row.kind === 'qr') {
    if (!(await isRunning(ctx, 'qr', row.subject))) await port.stopQr(store)
    return
  }
  if (row.kind === 'shared') {
    if (!(await isRunning(ctx, 'shared', null))) await port.leaveShared(store)
    return
  }
  for (const template of await findUnusedTemplates(ctx, row)) {
    try {
      await port.deleteTemplate(store, template)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ctx.log.warn({ err: error, template: template.name }, 'template deletion at the provider failed')
    }
  }
  if (row.kind === 'official' && !(await isAccountUsed(ctx, row))) {
    await port.releaseOfficial(store)
  }
}

/**
 * Whether a newer connection is active, so that the provider must not be called: leaving the shared number would end
 * the newer connection too, and a new QR session has already replaced the old session at the provider.
 */
async function isRunning(ctx: Context, type: 'qr' | 'shared', subject: string | null): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('messaging_connections')
    .select(['status', 'session_ref'])
    .where('type', '=', type)
    .executeTakeFirst()
  if (!row) return false
  if (type === 'qr') return isLive(row.status) && row.session_ref !== subject
  return row.status === 'connected'
}

/** Whether a number of any store still uses the account: ending the account's callbacks would end them for all numbers. */
async function isAccountUsed(ctx: Context, { provider, subject }: ReleaseRow): Promise<boolean> {
  const row = await ctx.system
    .selectFrom('messaging_connections')
    .select('store_id')
    .where('type', '=', 'official')
    .where('provider', '=', provider)
    .where('account_id', '=', subject)
    .where('credentials', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Returns the templates to delete at the provider. Leaves out templates whose provider id is in use again, by a number
 * connected since or by another store of the same account.
 */
async function findUnusedTemplates(
  ctx: Context,
  row: ReleaseRow,
): Promise<{ name: string; providerId: string }[]> {
  const templates = row.templates as { name: string; providerId: string }[]
  if (templates.length === 0) return []
  const used = await ctx.system
    .selectFrom('message_templates')
    .select('provider_id')
    .where(
      'provider_id',
      'in',
      templates.map((each) => each.providerId),
    )
    .execute()
  const ids = new Set(used.map((each) => each.provider_id))
  return templates.filter((each) => !ids.has(each.providerId))
}

const batchSize = 100
const retentionMs = 90 * dayMs

/** Processes all due releases, oldest first. Returns when to run again; null if none are left. */
export async function doReleases(system: SystemContext, signal: AbortSignal): Promise<Date | null> {
  const rows = await system.root
    .selectFrom('messaging_releases')
    .select(['id', 'store_id', 'created_at'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(batchSize)
    .execute()
  let left: Date | null = rows.length === batchSize ? system.now() : null
  for (const { id, store_id: storeId, created_at: createdAt } of rows) {
    if (signal.aborted) return system.now()
    const ctx = await system.forStore(storeId)
    if (!ctx || (await tryRelease(ctx, id))) continue
    const again = getNextTryAt(createdAt, system.now())
    if (!left || again < left) left = again
  }
  return left
}

/** Backoff: one minute at first, then as long as the release has already waited, but at most an hour. */
const getNextTryAt = (createdAt: Date, now: Date): Date =>
  new Date(now.getTime() + Math.max(60_000, Math.min(hourMs, now.getTime() - createdAt.getTime())))

/** Deletes callbacks older than 90 days, and setups, codes and assistant conversations of the same age. */
export async function pruneOld(system: SystemContext, signal: AbortSignal): Promise<void> {
  const before = new Date(system.now().getTime() - retentionMs)
  await events.prune(system, 'messaging', before, signal)
  await system.root.deleteFrom('messaging_setups').where('expires_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_codes').where('created_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_requests').where('requested_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_replies').where('created_at', '<', before).execute()
  const lastActivity = greatestKnown<Date>(
    sql.ref('told_at'),
    sql.ref('silent_until'),
    sql`wrong_at[cardinality(wrong_at)]`,
  )
  await system.root.deleteFrom('chat_agent_strangers').where(lastActivity, '<', before).execute()
}
