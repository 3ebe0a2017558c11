import { sql } from 'kysely'
import { test } from 'vitest'
import listCampaigns from '#operations/campaigns/campaigns/list-campaigns'
import { testApp } from '#test/support/app'
import { sendingShop } from '#test/support/campaigns'
const n = Number(process.env.N ?? 1000000)
const app = await testApp()
test('bench', async () => {
  const shop = await sendingShop(app)
  const other = await sendingShop(app)
  const listId = await shop.list(200)
  const id = await shop.draft(listId)
  await other.draft(await other.list(1))
  const root = app.database.root
  await sql`insert into campaigns (store_id, id, name, list_id, list_name, content, status, snapshot_at, audience_size, audience_opted_out, created_by, created_at, updated_at)
    select store_id, uuid_v7(created_at - i * interval '1 second'), 'Campaign ' || i, list_id, list_name, content, case when i % 100000 = 0 then 'paused' when i % 1000 = 0 then 'draft' else 'sent' end,
      case when i % 1000 = 0 then null else created_at end, 10, 1, created_by, created_at, created_at from campaigns, generate_series(1, ${sql.lit(n)}) i where campaigns.id = ${id}`.execute(root)
  await app.database.script('analyze campaigns')
  if (!app.database.pglite) await app.database.script('vacuum campaigns')
  const time = async (query: Record<string, string | number>) => {
    const times: number[] = []
    let total = 0
    for (let i = 0; i < 12; i++) { const t = performance.now(); const a = await shop.call(listCampaigns, { query }); times.push(performance.now() - t); total = a.body.total; if (a.status !== 200) throw new Error(JSON.stringify(a.body)) }
    times.sort((a, b) => a - b)
    console.log(JSON.stringify(query), 'median', Math.round(times[6]! * 10) / 10, 'max', Math.round(times[11]!), 'total', total)
  }
  await time({})
  await time({ limit: 100 })
  await time({ status: 'draft' })
  await time({ status: 'paused' })
  await time({ status: 'draft,paused' })
  await time({ status: 'sent' })
  await time({ status: 'scheduled,failed' })
  await time({ page: 1000 })
  await time({ page: 49000 })
  await time({ search: 'Campaign 99999' })
}, 600000)
