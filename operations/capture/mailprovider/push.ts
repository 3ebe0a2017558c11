/** Pushes subscribers to the email provider (rule 6). */

import { sql } from 'kysely'
import { days, notify, recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { mailproviderPush } from '../handles.ts'
import { mailingList } from '../mailing-list/connection.ts'
import { maxPeoplePerCall, type PushedPerson } from '../mailing-list/port.ts'
import { popup } from '../popup/settings.ts'

export interface Pushable {
  id: string
  email: string
  name: string | null
  phone: string | null
  revision: number
  /** True if we removed the person from the list when they unsubscribed here, and they have subscribed again. */
  isBack: boolean
}

/** Selects subscribers with an email and consent for it. Mode `new` selects those never pushed, or changed since. */
export function selectPushable(ctx: Context, mode: 'new' | 'all') {
  const rows = ctx.db
    .selectFrom('newsletter_subscribers as s')
    .where('s.status', '=', 'subscribed')
    .where('s.email', 'is not', null)
    .where('s.consent_email', '=', true)
  return mode === 'all' ? rows : rows.where(sql<boolean>`s.pushed_revision is distinct from s.revision`)
}

/** A subscriber who was pushed before and has no status at the provider was removed from the list by us. */
const isBack = sql<boolean>`(s.pushed_revision is not null and s.mailprovider_status is null)`

/** Pushes a batch to the provider. Not inside a transaction. */
export async function pushBatch(
  { port, store }: Pick<NonNullable<Awaited<ReturnType<typeof mailingList>>>, 'port' | 'store'>,
  listId: string,
  people: readonly Pushable[],
): Promise<(Pushable & { pushed: PushedPerson['status'] })[]> {
  const answers = await port.upsertSubscribers(
    store,
    listId,
    people.map(({ email, name, phone, isBack: back }) => ({
      email,
      name,
      phone,
      ...(back ? { isBack: true } : {}),
    })),
  )
  return people.map((person, i) => ({ ...person, pushed: answers[i]!.status }))
}

const types = { id: 'uuid', pushed: 'text', revision: 'int' } as const

/**
 * Records the results of a push, in the caller's transaction. Unsubscribes people who have unsubscribed at the
 * provider.
 */
export async function recordPushed(
  ctx: Context,
  people: readonly (Pick<Pushable, 'id' | 'revision'> & { pushed: PushedPerson['status'] })[],
): Promise<void> {
  const now = ctx.now()
  const rows = people.map(({ id, pushed, revision }) => ({ id, pushed, revision }))
  const hasLeft = sql<boolean>`(s.status = 'unsubscribed' and s.email is not null and r.pushed in ('added', 'updated'))`
  const written = await ctx.db
    .updateTable('newsletter_subscribers as s')
    .from(recordset(types, rows))
    .set({
      mailprovider_status: sql`r.pushed`,
      mailprovider_synced_at: now,
      pushed_revision: sql`r.revision`,
      // A subscriber who changed during the push stays due. So does one who unsubscribed here, to be removed at the
      // provider.
      push_due: sql<boolean>`${hasLeft} or (s.push_due and s.revision > r.revision)`,
      push_claim: null,
      status: sql<string>`case when r.pushed = 'unsubscribed' then 'unsubscribed' else s.status end`,
      unsubscribed_at: sql<Date>`case when r.pushed = 'unsubscribed' and s.status = 'subscribed'
        then ${now}::timestamptz else s.unsubscribed_at end`,
      updated_at: now,
    })
    .whereRef('s.id', '=', 'r.id')
    .where('s.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .returning(['s.id', hasLeft.as('has_left')])
    .execute()
  const unsubscribed = written.find((row) => row.has_left)
  if (unsubscribed) await ctx.queue(mailproviderPush, { subscriberId: unsubscribed.id })
}

/** A claim older than this belongs to a worker that died. */
export const claimTimeoutMs = 120_000

/**
 * Pushes all due subscribers of the store, then removes due unsubscribed ones from the list. The first of several
 * queued jobs does all the work. Rows are claimed for `jobId`, so that a retry of the job continues with them.
 */
export async function pushDue(ctx: Context, jobId: string, signal: AbortSignal): Promise<void> {
  const connected = await mailingList(ctx)
  if (!connected?.listId) return forgetErased(ctx)
  for (;;) {
    signal.throwIfAborted()
    const people = await claim(ctx, jobId)
    if (people.length === 0) break
    const pushed = await pushBatch(connected, connected.listId, people)
    await ctx.transaction((tx) => recordPushed(tx, pushed))
  }
  for (;;) {
    signal.throwIfAborted()
    const leavers = await claimUnsubscribed(ctx, jobId)
    if (leavers.length === 0) return
    const emails = leavers.map(({ email }) => email)
    const removed = new Set(await connected.port.unsubscribe(connected.store, connected.listId, emails))
    await recordRemoved(
      ctx,
      leavers.map((leaver) => ({ id: leaver.id, was_on: removed.has(leaver.email) })),
    )
  }
}

/** Columns returned for a claimed subscriber. */
export const pushedColumns = [
  's.id',
  's.name',
  's.phone',
  's.revision',
  sql<string>`s.email`.as('email'),
  isBack.as('isBack'),
] as const

function claim(ctx: Context, jobId: string): Promise<Pushable[]> {
  return claimRows(ctx, jobId, selectPushable(ctx, 'all')).returning(pushedColumns).execute()
}

function claimUnsubscribed(ctx: Context, jobId: string): Promise<{ id: string; email: string }[]> {
  const unsubscribed = ctx.db
    .selectFrom('newsletter_subscribers as s')
    .where('s.status', '=', 'unsubscribed')
    .where('s.email', 'is not', null)
  return claimRows(ctx, jobId, unsubscribed)
    .returning(['s.id', sql<string>`s.email`.as('email')])
    .execute()
}

/**
 * Records people who were removed from the list. A person who was on the list gets a null status; a person who was not has
 * unsubscribed at the provider. A person who has resubscribed here meanwhile stays due. The email of an erased person is
 * erased now.
 */
async function recordRemoved(
  ctx: Context,
  leavers: readonly { id: string; was_on: boolean }[],
): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('newsletter_subscribers as s')
    .from(recordset({ id: 'uuid', was_on: 'bool' } as const, leavers))
    .set({
      mailprovider_status: sql`case when r.was_on then null else 'unsubscribed' end`,
      mailprovider_synced_at: now,
      push_due: sql<boolean>`s.status <> 'unsubscribed'`,
      push_claim: null,
      email: sql<string | null>`case when s.erase_due then null else s.email end`,
      erase_due: false,
      updated_at: now,
    })
    .whereRef('s.id', '=', 'r.id')
    .where('s.id', '=', sql<string>`any(${leavers.map(({ id }) => id)}::uuid[])`)
    .execute()
}

/** Erases the emails of erased people when no list is connected that they could be taken off. */
async function forgetErased(ctx: Context): Promise<void> {
  await ctx.db
    .updateTable('newsletter_subscribers')
    .set({ email: null, erase_due: false, push_due: false, push_claim: null, updated_at: ctx.now() })
    .where('erase_due', '=', true)
    .execute()
}

function claimRows(ctx: Context, jobId: string, rows: ReturnType<typeof selectPushable>) {
  const now = ctx.now()
  const free = rows
    .where('s.push_due', '=', true)
    .where((eb) =>
      eb.or([
        eb('s.push_claim', 'is', null),
        eb('s.push_claim', '=', jobId),
        eb('s.push_claimed_at', '<', new Date(now.getTime() - claimTimeoutMs)),
      ]),
    )
    .select('s.id')
    .orderBy('s.id')
    .limit(sql<number>`${maxPeoplePerCall}::int`)
    .forUpdate()
    .skipLocked()
  return ctx.db
    .updateTable('newsletter_subscribers as s')
    .set({ push_claim: jobId, push_claimed_at: now })
    .where('s.id', 'in', free)
}

/**
 * Queues a push for subscribers whose own job has used up its retries during an outage of the provider. If pushing has been
 * turned off, only for those who unsubscribed here and must be removed from the list.
 */
export async function queueDuePush(ctx: Context): Promise<void> {
  const { isMailproviderEnabled } = await popup.read(ctx)
  const due = await ctx.db
    .selectFrom('newsletter_subscribers')
    .select('id')
    .where('push_due', '=', true)
    .$if(!isMailproviderEnabled, (rows) => rows.where('status', '=', 'unsubscribed'))
    .limit(1)
    .executeTakeFirst()
  if (due) await ctx.queue(mailproviderPush, { subscriberId: due.id })
}

/** Notifies the merchant of a failed push, at most once a day. The subscribers stay due for the next push. */
export async function notifyPushFailed(ctx: Context): Promise<void> {
  const today = days.localDay(ctx.now(), ctx.store.timezone)
  await notify(ctx, {
    type: 'mailprovider-push-failed',
    level: 'error',
    title: 'New subscribers could not be pushed to the email provider',
    message: 'It did not answer or refused them. They are kept, and go with the next push or sync.',
    dedupeKey: `mailprovider-push-failed:${today}`,
  })
}
