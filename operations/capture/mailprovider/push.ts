/** Subscribers on their way to the email provider (rule 6). */
import { sql } from 'kysely'
import { connections, days, notify, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type PushedPerson, peopleAtOnce } from '#runtime/ports/mailing-list/port'

export interface Pushable {
  id: string
  email: string
  name: string | null
  phone: string | null
  revision: number
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

/** Gives a batch to the provider. Not inside a transaction. */
export async function pushBatch(
  { port, store }: Pick<NonNullable<Awaited<ReturnType<typeof connections.mailingList>>>, 'port' | 'store'>,
  listId: string,
  people: readonly Pushable[],
): Promise<(Pushable & { pushed: PushedPerson['status'] })[]> {
  const answers = await port.upsertSubscribers(
    store,
    listId,
    people.map(({ email, name, phone }) => ({ email, name, phone })),
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
  await ctx.db
    .updateTable('newsletter_subscribers as s')
    .from(recordset(types, rows))
    .set({
      mailprovider_status: sql`r.pushed`,
      mailprovider_synced_at: now,
      pushed_revision: sql`r.revision`,
      // Changed meanwhile: still due.
      push_due: sql<boolean>`s.push_due and s.revision > r.revision`,
      push_claim: null,
      status: sql<string>`case when r.pushed = 'unsubscribed' then 'unsubscribed' else s.status end`,
      unsubscribed_at: sql<Date>`case when r.pushed = 'unsubscribed' and s.status = 'subscribed'
        then ${now}::timestamptz else s.unsubscribed_at end`,
      updated_at: now,
    })
    .whereRef('s.id', '=', 'r.id')
    .where('s.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .execute()
}

const claimMs = 120_000

/**
 * Pushes new subscribers who wait for it, this one or whoever else does: the first of many jobs takes them all.
 * `jobId` marks what it has claimed, so that a second try of it goes on with them.
 */
export async function pushDue(ctx: Context, jobId: string, signal: AbortSignal): Promise<void> {
  const connected = await connections.mailingList(ctx)
  if (!connected?.listId) return
  for (;;) {
    signal.throwIfAborted()
    const people = await claim(ctx, jobId)
    if (people.length === 0) return
    const pushed = await pushBatch(connected, connected.listId, people)
    await ctx.transaction((tx) => recordPushed(tx, pushed))
  }
}

function claim(ctx: Context, jobId: string): Promise<Pushable[]> {
  const now = ctx.now()
  const free = pushableRows(ctx, 'all')
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
    .updateTable('newsletter_subscribers')
    .set({ push_claim: jobId, push_claimed_at: now })
    .where('id', 'in', free)
    .returning(['id', 'name', 'phone', 'revision', sql<string>`email`.as('email')])
    .execute()
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
