/** A campaign to 100,000 people, from the call to the last message, and the reads that are looked at meanwhile. */
import { sql } from 'kysely'
import { createCampaign } from '#operations/campaigns/campaigns/drafts'
import { SystemContext } from '#runtime/context'
import { allScopes } from '#runtime/roles'
import { createStore } from '#scripts/admin/create-store'
import { createKey } from '#scripts/admin/keys'
import { connectNumber } from '#scripts/seed/connect-number'
import { area, type Measure } from '../area.ts'

interface Filled {
  storeId: string
  key: string
  campaignId: string
  people: number
}

const slug = 'bench-campaigns'

export default area<Filled>({
  name: 'campaigns',
  description: 'A campaign to 100,000 people, and the memory of the worker that sends it',
  rows: 100_000,

  async prepare({ database, services }, people) {
    const owner = `owner@${slug}.example.com`
    const now = new Date()
    const made = { slug, name: slug, owner, plan: 'scale', country: 'BR', currency: 'BRL' }
    const { id: storeId } = await createStore(database, now, { ...made, timezone: 'America/Sao_Paulo' })
    const ctx = (await new SystemContext(services, services.log, 'bench').forStore(storeId))!
    await ctx.db.updateTable('usage_cycles').set({ message_limit: 1_000_000 }).execute()
    await connectNumber(ctx, { type: 'qr', phone: '+5511400010001' })
    const { key } = await createKey(database, now, { storeId, member: owner, scopes: [...allScopes] })
    const listId = ctx.newId()
    const times = { created_at: now, updated_at: now }
    await ctx.db
      .insertInto('contact_lists')
      .values({ id: listId, name: 'Everybody', source: 'manual', size: people, ...times })
      .execute()
    await sql`
      insert into list_contacts (store_id, id, list_id, phone, phone_key, name, custom_fields, source, created_at, updated_at)
      select ${storeId}::uuid, uuid_v7(now() - n * interval '1 millisecond'), ${listId}::uuid, phone, phone, 'Shopper ' || n,
        '{}', 'manual', now(), now()
      from (select n, '+55119' || (10000005 + n * 10) as phone from generate_series(1, ${people}::int) n) people`.execute(
      database.root,
    )
    const campaignId = await ctx.transaction((tx) =>
      createCampaign(tx, {
        name: 'To everybody',
        listId,
        content: { type: 'text', text: 'Hello {{firstName|you}}', optOutText: 'Reply STOP to stop' },
      } as never),
    )
    return { storeId, key, campaignId, people }
  },

  measures({ storeId, key, campaignId }) {
    const read = (name: string, path: string, text: string): Measure => ({
      name,
      path: `/v1${path}`,
      key,
      atMostMs: null,
      bare: { text, values: [storeId] },
    })
    return [
      read('campaigns', '/campaigns', 'select * from campaigns where store_id = $1 limit 20'),
      read('the draft', `/campaigns/${campaignId}`, 'select * from campaigns where store_id = $1'),
    ]
  },

  jobs({ storeId, key, campaignId, people }) {
    return [
      {
        name: `campaign to ${people}`,
        path: `/v1/campaigns/${campaignId}/send`,
        body: {},
        key,
        atMostMs: null,
        atMostMiB: 350,
        // Each of them once.
        done: {
          text: `select 1 from campaigns where store_id = $1 and id = $2 and status = 'sent'
            and (select (count(*), count(distinct phone), max(calls)) = ($3::bigint, $3::bigint, 1) from sandbox_messages)`,
          values: [storeId, campaignId, people],
        },
      },
    ]
  },
})
