/** A campaign to 100,000 people: the memory of the worker that sends it. */
import { createCampaign } from '#operations/campaigns/campaigns/drafts'
import type { Area } from '../area.ts'

const listId = '01900000-0000-7000-8000-000000000003'

export default {
  rows: 100_000,
  phone: '+5511400010001',
  fill: [
    `insert into contact_lists (store_id, id, name, source, size, created_at, updated_at)
    values ({store}, '${listId}', 'Everybody', 'manual', {rows}, now(), now())`,
    `insert into list_contacts (store_id, id, list_id, phone, phone_key, name, custom_fields, source, created_at, updated_at)
    select {store}, uuid_v7(now() - n * interval '1 millisecond'), '${listId}', phone, phone, 'Shopper ' || n,
      '{}', 'manual', now(), now()
    from (select n, '+55119' || (10000005 + n * 10) as phone from generate_series(1, {rows}) n) people`,
  ],
  async prepare(_world, { ctx }) {
    const content = { type: 'text', text: 'Hello {{firstName|you}}', optOutText: 'Reply STOP to stop' }
    const draft = { name: 'To everybody', listId, content } as never
    return { campaign: await ctx.transaction((tx) => createCampaign(tx, draft)) }
  },
  jobs: ({ campaign }, people) => [
    {
      name: `campaign to ${people}`,
      path: `/v1/campaigns/${campaign}/send`,
      body: {},
      atMostMiB: 350,
      // One message to each of them.
      done: `select 1 from campaigns where store_id = {store} and id = '${campaign}' and status = 'sent'
        and (select (count(*), count(distinct phone), max(calls)) = (${people}::bigint, ${people}::bigint, 1)
          from sandbox_messages)`,
    },
  ],
} satisfies Area
