/** Stores that can send campaigns, their lists, and sent messages. */
import { sql } from 'kysely'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import getCampaign from '#operations/campaigns/campaigns/api/get-campaign'
import type { ConnectionType } from '#operations/messaging/provider/port'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { phoneKey } from '#runtime/values/phone'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { type Shop, store } from './store.ts'

interface TestContact {
  phone: string
  name?: string | null
  email?: string | null
  customFields?: Record<string, string>
}

export interface SendingShop extends Shop {
  /** A list with these contacts, or with a number of generated ones. Returns its id. */
  list(contacts: number | TestContact[]): Promise<string>
  /** A draft over HTTP; a text by default. Returns its id. */
  draft(listId: string, fields?: Record<string, unknown>): Promise<string>
  read(campaignId: string): Promise<Campaign>
  /** Messages accepted by the sandbox, by phone. */
  outbox(): Promise<Map<string, { calls: number; text: string; keys: string[] }>>
  usage(): Promise<{ used: number; reserved: number }>
  setQuota(limit: number): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
type Campaign = any

/** `+5511910000042` for 42: none of the phones that the sandbox treats specially. */
export const makePhone = (n: number): string => `+55119${String(10_000_000 + n * 10 + 5).padStart(8, '0')}`

let lists = 0

export async function sendingShop(
  app: TestApp,
  options: Parameters<typeof store>[1] & { connection?: ConnectionType | null; phone?: string } = {},
): Promise<SendingShop> {
  const { connection = 'qr', phone = '+5511400010001', ...others } = options
  const shop = await store(app, others)
  const ctx = await shop.context()
  if (connection) await connectNumber(ctx, { type: connection, phone })
  return {
    ...shop,
    async list(contacts) {
      lists += 1
      const id = ctx.newId()
      const now = ctx.now()
      const rows: TestContact[] =
        typeof contacts === 'number'
          ? Array.from({ length: contacts }, (_, i) => ({ phone: makePhone(i), name: `Person ${i}` }))
          : contacts
      await ctx.db
        .insertInto('contact_lists')
        .values({
          id,
          name: `List ${lists}`,
          source: 'manual',
          size: rows.length,
          created_at: now,
          updated_at: now,
        })
        .execute()
      for (let i = 0; i < rows.length; i += 1000) {
        await ctx.db
          .insertInto('list_contacts')
          .values(
            rows.slice(i, i + 1000).map((contact) => ({
              id: ctx.newId(),
              list_id: id,
              phone: contact.phone,
              phone_key: phoneKey(contact.phone),
              name: contact.name ?? null,
              email: contact.email ?? null,
              custom_fields: JSON.stringify(contact.customFields ?? {}),
              source: 'manual',
              created_at: now,
              updated_at: now,
            })),
          )
          .execute()
      }
      return id
    },
    async draft(listId, fields = {}) {
      const body = { name: 'Sale', listId, content: { text: 'Oi {{firstName|cliente}}' }, ...fields }
      const answer = await shop.call(createCampaign, { body })
      if (answer.status !== 201) throw new Error(`no draft: ${JSON.stringify(answer.body)}`)
      return answer.body.id
    },
    async read(campaignId) {
      return (await shop.call(getCampaign, { params: { id: campaignId } })).body
    },
    async outbox() {
      const messages = await getSandbox(app.services.adapters.messaging).outbox(shop.id)
      const byPhone = new Map<string, { calls: number; text: string; keys: string[] }>()
      for (const { phone, calls, content, idempotencyKey } of messages) {
        const before = byPhone.get(phone)
        byPhone.set(phone, {
          calls: calls + (before?.calls ?? 0),
          text: String(content.text ?? ''),
          keys: [...(before?.keys ?? []), idempotencyKey],
        })
      }
      return byPhone
    },
    async usage() {
      return app.database.root
        .selectFrom('usage_cycles')
        .select(['used', 'reserved'])
        .where('store_id', '=', shop.id)
        .executeTakeFirstOrThrow()
    },
    async setQuota(limit) {
      await app.database.root
        .updateTable('usage_cycles')
        .set({ message_limit: limit })
        .where('store_id', '=', shop.id)
        .execute()
    },
  }
}

/** Counted from the rows: the expected counters of the campaign. */
export async function counted(app: TestApp, campaignId: string): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    select count(*)::int as total,
      (count(*) filter (where status in ('pending', 'sending')))::int as pending,
      (count(*) filter (where status in ('sent', 'delivered', 'read')))::int as sent,
      (count(*) filter (where status in ('delivered', 'read')))::int as delivered,
      (count(*) filter (where status = 'read'))::int as read,
      (count(*) filter (where status = 'failed'))::int as failed,
      (count(*) filter (where status = 'skipped'))::int as skipped,
      (count(*) filter (where status = 'cancelled'))::int as cancelled
    from campaign_messages where campaign_id = ${campaignId}`.execute(app.database.root)
  return rows[0]!
}

/** Advances the clock in steps, with all jobs of each step, until `done`. */
export async function runUntil(
  app: TestApp,
  done: () => Promise<boolean>,
  stepMs = 1500,
  steps = 200,
): Promise<void> {
  for (let i = 0; i < steps; i += 1) {
    await app.drainJobs()
    if (await done()) return
    await app.advance(stepMs)
  }
  throw new Error('It did not come to an end')
}
