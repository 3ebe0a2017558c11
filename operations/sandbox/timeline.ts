/** Recent events of a store: jobs, messages, mail and provider callbacks. */
import { sql } from 'kysely'
import { sandboxNumberId } from '#operations/messaging/index'
import { requireStoreId } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'

const shownOfEach = 30

interface Event {
  id: string
  kind: 'job' | 'message' | 'mail' | 'hook'
  at: string
  title: string
  /** State of the event, if it has one. */
  state: string | null
}

/** Reads the newest events of each kind, newest first. The server records no API requests; the page adds its own. */
export async function readTimeline(ctx: SystemContext, idOrSlug: string): Promise<{ data: Event[] }> {
  const storeId = await requireStoreId(ctx, idOrSlug)
  const found = await Promise.all([
    listJobs(ctx, storeId),
    listMessages(ctx, storeId),
    listMail(ctx, storeId),
    listHooks(ctx, storeId),
  ])
  return { data: found.flat().sort((a, b) => b.at.localeCompare(a.at)) }
}

/** Lists jobs by the time in their ids, which is our clock's; the queue's own columns use the database's clock. */
async function listJobs(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const jobs = await ctx.services.queue.listJobs(storeId)
  return jobs
    .sort((a, b) => b.id.localeCompare(a.id))
    .slice(0, shownOfEach)
    .map(({ id, name, state }) => ({ id, kind: 'job', at: parseInstant(id), title: name, state }))
}

const parseInstant = (id: string): string =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString()

async function listMessages(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const rows = await ctx.root
    .selectFrom('sandbox_messages')
    .select(['id', 'phone', 'kind', 'calls', 'sent_at'])
    .where('store_id', '=', storeId)
    .orderBy('sent_at', 'desc')
    .orderBy('id', 'desc')
    .limit(shownOfEach)
    .execute()
  return rows.map(({ id, phone, kind, calls, sent_at }) => ({
    id,
    kind: 'message',
    at: sent_at.toISOString(),
    title: `${kind} to ${phone}`,
    state: calls > 1 ? `asked for ${calls} times, sent once` : null,
  }))
}

async function listMail(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const mail = await listSandboxMail(ctx.root as never, { storeId, limit: shownOfEach })
  return mail.map(({ id, to, subject, sentAt }) => ({
    id,
    kind: 'mail',
    at: new Date(sentAt).toISOString(),
    title: `${subject}, to ${to}`,
    state: null,
  }))
}

/** Lists callbacks. Events of a number may have no store id until they are applied, so the number's id is matched too. */
async function listHooks(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const rows = await ctx.root
    .selectFrom('provider_events')
    .select(['id', 'port', 'kind', 'applied_at', 'failure', 'created_at'])
    .where((eb) =>
      eb.or([
        eb('store_id', '=', storeId),
        eb(sql`payload ->> 'storeRef'`, '=', sandboxNumberId(storeId, 'qr')),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(shownOfEach)
    .execute()
  return rows.map(({ id, port, kind, applied_at, failure, created_at }) => ({
    id,
    kind: 'hook',
    at: created_at.toISOString(),
    title: `${port}: ${kind}`,
    state: failure ?? (applied_at ? 'applied' : 'waits'),
  }))
}
