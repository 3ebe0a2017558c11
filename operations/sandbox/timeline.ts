/** What happened to a store lately, wherever it was written down: jobs, messages, mail and what providers told. */
import { sql } from 'kysely'
import { sandboxNumberId } from '#operations/messaging/door'
import { requireStoreId } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'

const shownOfEach = 30

interface Event {
  id: string
  kind: 'job' | 'message' | 'mail' | 'hook'
  at: string
  title: string
  /** How it stands, where it can stand somehow. */
  state: string | null
}

/** Newest first, the newest of each kind. What was called of the API is written down nowhere: the page knows its own. */
export async function timelineOf(ctx: SystemContext, wanted: string): Promise<{ data: Event[] }> {
  const storeId = await requireStoreId(ctx, wanted)
  const found = await Promise.all([
    jobsOf(ctx, storeId),
    messagesOf(ctx, storeId),
    mailOf(ctx, storeId),
    hooksOf(ctx, storeId),
  ])
  return { data: found.flat().sort((a, b) => b.at.localeCompare(a.at)) }
}

/** By the instant in their ids, which the queue takes from our clock: its own columns have that of the database. */
async function jobsOf(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const jobs = await ctx.services.queue.jobsOf(storeId)
  return jobs
    .sort((a, b) => b.id.localeCompare(a.id))
    .slice(0, shownOfEach)
    .map(({ id, name, state }) => ({ id, kind: 'job', at: instantOf(id), title: name, state }))
}

const instantOf = (id: string): string =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString()

async function messagesOf(ctx: SystemContext, storeId: string): Promise<Event[]> {
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

async function mailOf(ctx: SystemContext, storeId: string): Promise<Event[]> {
  const mail = await listSandboxMail(ctx.root as never, { storeId, limit: shownOfEach })
  return mail.map(({ id, to, subject, sentAt }) => ({
    id,
    kind: 'mail',
    at: new Date(sentAt).toISOString(),
    title: `${subject}, to ${to}`,
    state: null,
  }))
}

/** Of a number only applying them tells whose they are; the sandbox's numbers say it. */
async function hooksOf(ctx: SystemContext, storeId: string): Promise<Event[]> {
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
