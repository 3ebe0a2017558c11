/** Contacts of the demo's inbox, and messages that they had received before. */
import { findSentContent, type SentContent } from '#operations/inbox/receiving/sent-content'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import type { Customer } from './order-plan.ts'

interface Arrived {
  id: string
  phone_key: string | null
  source: 'automation' | 'campaign'
  status: string
  sent_at: Date | null
  provider_message_id: string | null
}

/** A received message of an automation or a campaign. */
export type Earlier = Arrived & SentContent

export interface Writer {
  name: string
  phone: string
  earlier: Earlier | null
}

/**
 * 60 people: 25 with orders first, 14 of these with automation messages, and no other person with any. For 30, the
 * conversation shows the automation or campaign message they received.
 */
export async function chooseWriters(ctx: Context, customers: readonly Customer[]): Promise<Writer[]> {
  const campaigns = await findArrived(ctx, 'campaign')
  const automations = await findArrived(ctx, 'automation')
  const buyers = await readKeys(ctx, 'orders')
  const stopped = await readKeys(ctx, 'opt_outs')
  const reached = await readKeys(ctx, 'automation_executions')
  const visitors = await ctx.db.selectFrom('list_contacts').select(['name', 'phone']).orderBy('id').execute()
  const known = [...customers, ...visitors].map(({ name, phone }) => ({
    key: phoneKey(phone),
    name: name!,
    phone,
  }))
  const all = [...new Map(known.map((each) => [each.key, each])).values()]
  const chosen = new Set<(typeof all)[number]>()
  const take = (upTo: number, fits: (key: string) => boolean): void => {
    for (const person of all) {
      if (chosen.size < upTo && !stopped.has(person.key) && fits(person.key)) chosen.add(person)
    }
  }
  const isOnlyInCampaigns = (key: string): boolean => !reached.has(key) && campaigns.has(key)
  take(14, (key) => buyers.has(key) && automations.has(key))
  take(25, (key) => buyers.has(key) && isOnlyInCampaigns(key))
  take(25, (key) => buyers.has(key) && !reached.has(key))
  take(50, (key) => !buyers.has(key) && isOnlyInCampaigns(key))
  take(60, (key) => !buyers.has(key) && !reached.has(key))
  if (chosen.size < 60) throw new Error(`The demo has ${chosen.size} people for its inbox, which takes 60`)
  const shown = [...chosen]
    .flatMap(({ key }) => automations.get(key) ?? campaigns.get(key) ?? [])
    .slice(0, 30)
  const ids = shown.map(({ id }) => id)
  const texts = await findSentContent(ctx, ids)
  const earlierOf = new Map(shown.map((row) => [row.phone_key, { ...texts.get(row.id)!, ...row }]))
  return [...chosen].map(({ key, ...person }) => ({ ...person, earlier: earlierOf.get(key) ?? null }))
}

async function readKeys(
  ctx: Context,
  table: 'orders' | 'opt_outs' | 'automation_executions',
): Promise<Set<string | null>> {
  const rows = await ctx.db.selectFrom(table).select('phone_key').distinct().execute()
  return new Set(rows.map((row) => row.phone_key))
}

/** The newest delivered message of each phone. */
async function findArrived(ctx: Context, source: Arrived['source']): Promise<Map<string, Arrived>> {
  const table = source === 'campaign' ? ('campaign_messages' as const) : ('automation_executions' as const)
  const rows = await ctx.db
    .selectFrom(table)
    .select(['id', 'phone_key', 'status', 'sent_at', 'provider_message_id'])
    .where('status', 'in', ['delivered', 'read'])
    .orderBy('id')
    .execute()
  return new Map(rows.map((row) => [row.phone_key!, { ...row, source }]))
}
