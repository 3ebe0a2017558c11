import { test } from 'vitest'
import sendCampaign from '#operations/campaigns/campaigns/send-campaign'
import { testApp } from '#test/support/app'
import { sendingShop } from '#test/support/campaigns'
const rate = Number(process.env.RATE ?? 100000)
const n = Number(process.env.N ?? 5000)
const app = await testApp({ sandboxMessagesPerSecond: rate })
test('bench', async () => {
  const shop = await sendingShop(app)
  await shop.setQuota(1e9)
  const id = await shop.draft(await shop.list(n))
  const counts = new Map<string, [number, number]>()
  const db = app.database as any
  if (process.env.PROFILE && db.pglite) {
    const wrap = (o: any) => { const orig = o.query.bind(o); o.query = async (t: string, ...rest: any[]) => { const s = performance.now(); try { return await orig(t, ...rest) } finally { const k = 'tx ' + t.replace(/\s+/g,' ').slice(0, 110); const c = counts.get(k) ?? [0,0]; c[0]++; c[1]+= performance.now()-s; counts.set(k,c) } } ; return o }
    const tr = db.pglite.transaction.bind(db.pglite)
    db.pglite.transaction = (fn: any) => tr((tx: any) => fn(wrap(tx)))
    const orig = db.pglite.query.bind(db.pglite)
    db.pglite.query = async (t: string, ...rest: any[]) => { const s = performance.now(); try { return await orig(t, ...rest) } finally { const k = t.replace(/\s+/g,' ').slice(0, 90); const c = counts.get(k) ?? [0,0]; c[0]++; c[1]+= performance.now()-s; counts.set(k,c) } }
  }
  const t0 = performance.now()
  await shop.call(sendCampaign, { params: { id } })
  let sentAt = 0
  const names = ['campaign-send']
  const done = async () => (await shop.read(id)).status === 'sent'
  for (let i = 0; i < 1000 && !(await done()); i++) {
    const [name] = await app.services.queue.due(names)
    if (name) await app.worker.drain(60000)
    else await new Promise(r => setTimeout(r, 20))
  }
  sentAt = performance.now() - t0
  console.log('sent after', sentAt, 'per second', n / sentAt * 1000)
  const c = await shop.read(id)
  console.log(JSON.stringify(c.counters))
  const t1 = performance.now()
  for (let i = 0; i < 100; i++) { await app.worker.drain(60000); if ((await shop.read(id)).counters.read === n) break; await new Promise(r=>setTimeout(r,100)) }
  console.log('all read after', performance.now() - t1, JSON.stringify((await shop.read(id)).counters))
  for (const [k, [a, b]] of [...counts].sort((x, y) => y[1][1] - x[1][1]).slice(0, 25)) console.log(Math.round(b), a, k)
}, 600000)
