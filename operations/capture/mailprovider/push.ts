/** Subscribers on their way to the email provider (rule 6). */

import { sql } from 'kysely'
import { days, notify, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { mailproviderPush } from '../handles.ts'
import { mailingList } from '../mailing-list/connection.ts'
import { type PushedPerson, peopleAtOnce } from '../mailing-list/port.ts'
import { popup } from '../popup/settings.ts'

export interface Pushable {
  id: string
  email: string
  name: string | null
  phone: string | null
  revision: number
  /** We took them off the list when they left here, and they are back. */
  isBack: boolean
}

/** Who may be pushed: subscribed, with an email and consent for it. `mode` new: never pushed, or changed since. */
export function pushableRows(ctx: Context, mode: 'new' | 'all') {
  const rows = ctx.db
    .selectFrom('newsletter_subscribers as s')
    .where('s.status', '=', 'subscribed')
    .where('s.email', 'is not', null)
    .where('s.consent_email', '=', true)
  return mode === 'all' ? rows : rows.where(sql<boolean>`s.pushed_revision is distinct from s.revision`)
}

/** Pushed once, and nothing is known of them there any more: it was us who took them off. */
const isBack = sql<boolean>`(s.pushed_revision is not null and s.mailprovider_status is null)`

/** Gives a batch to the provider. Not inside a transaction. */
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

/** What the provider said, in the caller's transaction; who left there is unsubscribed here. */
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
      // Changed meanwhile: still due. Who left here while they were pushed is taken off there.
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
  const left = written.find((row) => row.has_left)
  if (left) await ctx.queue(mailproviderPush, { subscriberId: left.id })
}

/** Whoever claimed somebody is dead after this long. */
export const claimMs = 120_000

/**
 * Pushes new subscribers who wait for it, this one or whoever else does, and takes off the list who has left here: the
 * first of many jobs takes them all. `jobId` marks what it has claimed, so that a second try of it goes on with them.
 */
export async function pushDue(ctx: Context, jobId: string, signal: AbortSignal): Promise<void> {
  const connected = await mailingList(ctx)
  if (!connected?.listId) return
  for (;;) {
    signal.throwIfAborted()
    const people = await claim(ctx, jobId)
    if (people.length === 0) break
    const pushed = await pushBatch(connected, connected.listId, people)
    await ctx.transaction((tx) => recordPushed(tx, pushed))
  }
  for (;;) {
    signal.throwIfAborted()
    const leavers = await claimLeavers(ctx, jobId)
    if (leavers.length === 0) return
    const emails = leavers.map(({ email }) => email)
    const gone = new Set(await connected.port.unsubscribe(connected.store, connected.listId, emails))
    await recordTakenOff(
      ctx,
      leavers.map((leaver) => ({ id: leaver.id, was_on: gone.has(leaver.email) })),
    )
  }
}

/** Of somebody who was claimed. */
export const pushedColumns = [
  's.id',
  's.name',
  's.phone',
  's.revision',
  sql<string>`s.email`.as('email'),
  isBack.as('isBack'),
] as const

function claim(ctx: Context, jobId: string): Promise<Pushable[]> {
  return claimed(ctx, jobId, pushableRows(ctx, 'all')).returning(pushedColumns).execute()
}

function claimLeavers(ctx: Context, jobId: string): Promise<{ id: string; email: string }[]> {
  const left = ctx.db
    .selectFrom('newsletter_subscribers as s')
    .where('s.status', '=', 'unsubscribed')
    .where('s.email', 'is not', null)
  return claimed(ctx, jobId, left)
    .returning(['s.id', sql<string>`s.email`.as('email')])
    .execute()
}

/**
 * Who came back meanwhile stays due. Nothing is known any more of who was on the list until now; who was not had left
 * there by themselves.
 */
async function recordTakenOff(
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
      updated_at: now,
    })
    .whereRef('s.id', '=', 'r.id')
    .where('s.id', '=', sql<string>`any(${leavers.map(({ id }) => id)}::uuid[])`)
    .execute()
}

function claimed(ctx: Context, jobId: string, rows: ReturnType<typeof pushableRows>) {
  const now = ctx.now()
  const free = rows
    .where('s.push_due', '=', true)
    .where((eb) =>
      eb.or([
        eb('s.push_claim', 'is', null),
        eb('s.push_claim', '=', jobId),
        eb('s.push_claimed_at', '<', new Date(now.getTime() - claimMs)),
      ]),
    )
    .select('s.id')
    .orderBy('s.id')
    .limit(sql<number>`${peopleAtOnce}::int`)
    .forUpdate()
    .skipLocked()
  return ctx.db
    .updateTable('newsletter_subscribers as s')
    .set({ push_claim: jobId, push_claimed_at: now })
    .where('s.id', 'in', free)
}

/**
 * The provider was silent for longer than a push waits: who left here must not stay on its list until somebody else
 * comes. New ones wait where pushing was turned off meanwhile.
 */
export async function pushForgotten(ctx: Context): Promise<void> {
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

/** Told once a day: those who wait go with the next push. */
export async function tellPushFailed(ctx: Context): Promise<void> {
  const today = days.localDay(ctx.now(), ctx.store.timezone)
  await notify(ctx, {
    type: 'mailprovider-push-failed',
    level: 'error',
    title: 'New subscribers could not be pushed to the email provider',
    message: 'It did not answer or refused them. They are kept, and go with the next push or sync.',
    dedupeKey: `mailprovider-push-failed:${today}`,
  })
}
