/**
 * What is over here and still to be ended at the provider: phones to log out, numbers to let go, templates to delete.
 * Each is written down in the transaction that ends it here, and tried until it is done or too old.
 */

import { sql } from 'kysely'
import type { Row } from '#db/tables'
import { events } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { dayMs, hourMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { unseal } from '#runtime/secrets'
import { messagingCleanup } from '../handles.ts'
import { isSilent, providerNamed } from './provider.ts'
import { isLive } from './qr-clock.ts'
import { withinTime } from './within-time.ts'

export interface NewRelease {
  kind: 'qr' | 'official' | 'shared' | 'templates'
  provider: string
  /** As the connection's row had them, sealed. */
  credentials?: string | null
  /** The session or account it is about. */
  subject?: string | null
  templates?: readonly { name: string; providerId: string }[]
}

const jobAfterMs = 15_000
const answerWithinMs = 8_000
const givenUpMs = dayMs

/** Writes a release down, in the caller's transaction, and queues the job that does it. Answers its id. */
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

/** The same where the request tries first; the job is for when that fails, or dies. */
export const addReleaseTriedHere = (ctx: Context, release: NewRelease): Promise<string> =>
  addRelease(ctx, release, jobAfterMs)

/** Does one release; what the provider does not answer stays for the job. Answers whether it is done. */
export async function tryRelease(ctx: Context, id: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('messaging_releases')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return true
  try {
    await withinTime(perform(ctx, row), answerWithinMs)
  } catch (error) {
    const isOld = ctx.now().getTime() - row.created_at.getTime() >= givenUpMs
    // Nor does a fault of ours say that there is nothing to end, such as a store of the account that cannot be asked now.
    if (!(error instanceof Refused) && !isOld) {
      if (!isSilent(error)) ctx.log.error({ err: error, kind: row.kind }, 'a release could not be done')
      return false
    }
    // With it go the credentials, which nobody needs any more.
    ctx.log.warn({ err: error, kind: row.kind }, 'what was to be ended at the provider is given up')
  }
  await ctx.db.deleteFrom('messaging_releases').where('id', '=', id).execute()
  return true
}

type ReleaseRow = Row<'messaging_releases'>

async function perform(ctx: Context, row: ReleaseRow): Promise<void> {
  const { port } = providerNamed(ctx, row.provider)
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
  for (const template of await unused(ctx, row)) {
    try {
      await port.deleteTemplate(store, template)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      ctx.log.warn({ err: error, template: template.name }, 'a template could not be deleted at the provider')
    }
  }
  if (row.kind === 'official' && !(await isAccountUsed(ctx, row))) {
    await port.releaseOfficial(store)
  }
}

/**
 * Whether a newer connection stands where the old one stood: ending that would end the newer one. A new QR session has
 * replaced the old one at the provider already.
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

/** What is told of an account is told for all its numbers, whichever store they are of. */
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

/** One may have been adopted with its id: by a number that connected since, or of another store in the same account. */
async function unused(ctx: Context, row: ReleaseRow): Promise<{ name: string; providerId: string }[]> {
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

const batch = 100
const keptMs = 90 * dayMs

/** Does all releases that wait, oldest first. Answers when to look again; null when none is left. */
export async function doReleases(system: SystemContext, signal: AbortSignal): Promise<Date | null> {
  const rows = await system.root
    .selectFrom('messaging_releases')
    .select(['id', 'store_id', 'created_at'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(batch)
    .execute()
  let left: Date | null = rows.length === batch ? system.now() : null
  for (const { id, store_id: storeId, created_at: createdAt } of rows) {
    if (signal.aborted) return system.now()
    const ctx = await system.forStore(storeId)
    if (!ctx || (await tryRelease(ctx, id))) continue
    const again = againAt(createdAt, system.now())
    if (!left || again < left) left = again
  }
  return left
}

/** A minute later at first, then after as long again as it has waited already. */
const againAt = (createdAt: Date, now: Date): Date =>
  new Date(now.getTime() + Math.max(60_000, Math.min(hourMs, now.getTime() - createdAt.getTime())))

/** Deletes what callbacks told more than 90 days ago, and setups, codes and talks with the assistant as old. */
export async function pruneOld(system: SystemContext, signal: AbortSignal): Promise<void> {
  const before = new Date(system.now().getTime() - keptMs)
  await events.prune(system, 'messaging', before, signal)
  await system.root.deleteFrom('messaging_setups').where('expires_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_codes').where('created_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_requests').where('requested_at', '<', before).execute()
  await system.root.deleteFrom('chat_agent_replies').where('created_at', '<', before).execute()
  const lastHeard = greatestKnown<Date>(
    sql.ref('told_at'),
    sql.ref('silent_until'),
    sql`wrong_at[cardinality(wrong_at)]`,
  )
  await system.root.deleteFrom('chat_agent_strangers').where(lastHeard, '<', before).execute()
}
