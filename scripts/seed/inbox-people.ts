/** Who writes to the demo's inbox, and what they had got before. */
import { sql } from 'kysely'
import { type SentText, textsOf } from '#operations/inbox/receiving/sent-texts'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import type { Customer } from './order-plan.ts'

export interface Earlier extends SentText {
  id: string
  source: 'automation' | 'campaign'
  at: Date
  status: string
  providerId: string | null
}
export interface Writer {
  name: string
  phone: string
  /** A message of an automation or a campaign that they got. */
  earlier: Earlier | null
}

const people = 60
const withOrders = 25
const ofAutomations = 14
const earlierShown = 30

type Person = { key: string; name: string; phone: string }

/**
 * 25 with orders first, 14 of these with messages of automations, and nobody else with any; of 30 a message is
 * shown that an automation or a campaign sent them.
 */
export async function peopleFor(ctx: Context, customers: readonly Customer[]): Promise<Writer[]> {
  const campaigns = await arrived(ctx, 'campaign')
  const automations = await arrived(ctx, 'automation')
  const buyers = await keysOf(ctx, 'orders')
  const stopped = await keysOf(ctx, 'opt_outs')
  const reached = await keysOf(ctx, 'automation_executions')
  const known = new Map<string, Person>()
  for (const { name, phone } of customers) known.set(phoneKey(phone), { key: phoneKey(phone), name, phone })
  for (const { key, name, phone } of campaigns.values()) {
    if (name && !known.has(key)) known.set(key, { key, name, phone })
  }
  const all = [...known.values()].filter(({ key }) => !stopped.has(key))
  const chosen: Person[] = []
  const take = (upTo: number, fits: (key: string) => boolean): void => {
    const fitting = all.filter((person) => !chosen.includes(person) && fits(person.key))
    chosen.push(...fitting.slice(0, upTo - chosen.length))
  }
  take(ofAutomations, (key) => buyers.has(key) && automations.has(key))
  const told = (key: string): boolean => !reached.has(key) && campaigns.has(key)
  take(withOrders, (key) => buyers.has(key) && told(key))
  take(withOrders, (key) => buyers.has(key) && !reached.has(key))
  take(people - 10, (key) => !buyers.has(key) && told(key))
  take(people, (key) => !buyers.has(key) && !reached.has(key))
  if (chosen.length < people) {
    throw new Error(`The demo has ${chosen.length} people for its inbox, which takes ${people}`)
  }
  const shown = chosen
    .flatMap(({ key }) => automations.get(key) ?? campaigns.get(key) ?? [])
    .slice(0, earlierShown)
  const texts = await textsOf(
    ctx,
    shown.map(({ id }) => id),
  )
  const earlierOf = new Map(shown.map((row) => [row.key, row]))
  return chosen.map(({ key, name, phone }) => {
    const row = earlierOf.get(key)
    if (!row) return { name, phone, earlier: null }
    const { id, source, at, status, providerId } = row
    return { name, phone, earlier: { ...texts.get(id)!, id, source, at, status, providerId } }
  })
}

async function keysOf(
  ctx: Context,
  table: 'orders' | 'opt_outs' | 'automation_executions',
): Promise<Set<string | null>> {
  const rows = await ctx.db.selectFrom(table).select('phone_key').distinct().execute()
  return new Set(rows.map((row) => row.phone_key))
}

interface Arrived extends Person {
  id: string
  source: Earlier['source']
  at: Date
  status: string
  providerId: string | null
}

/** The newest message of each phone that arrived. */
async function arrived(ctx: Context, source: Earlier['source']): Promise<Map<string, Arrived>> {
  const rows =
    source === 'campaign'
      ? await ctx.db
          .selectFrom('campaign_messages')
          .select(['id', 'phone', 'phone_key', 'name', 'status', 'sent_at', 'provider_message_id'])
          .where('status', 'in', ['delivered', 'read'])
          .orderBy('id')
          .execute()
      : await ctx.db
          .selectFrom('automation_executions')
          .select(['id', 'phone', 'phone_key', 'status', 'sent_at', 'provider_message_id'])
          .select(sql<string | null>`null`.as('name'))
          .where('status', 'in', ['delivered', 'read'])
          .orderBy('id')
          .execute()
  return new Map(
    rows.map((row) => [
      row.phone_key!,
      {
        key: row.phone_key!,
        id: row.id,
        name: row.name ?? '',
        phone: row.phone!,
        source,
        at: row.sent_at!,
        status: row.status,
        providerId: row.provider_message_id,
      },
    ]),
  )
}
