import { openApp } from '#runtime/app'
import { silentLog } from '#runtime/log'
import { readSettings } from '#runtime/settings'
import { seedDemo } from '#scripts/seed/demo'
const t0 = performance.now()
const app = await openApp({ settings: readSettings(process.env), log: silentLog(), supervise: false })
const t1 = performance.now()
console.log('open', t1 - t0)
const demo = await seedDemo(app.services)
const t2 = performance.now()
console.log('seed', t2 - t1)
await seedDemo(app.services)
console.log('again', performance.now() - t2)
console.log(demo)
const rows = await app.services.database.query(`select (xpath('/row/c/text()', query_to_xml('select count(*) as c from '||table_name, false, true, '')))[1]::text as n, table_name from information_schema.tables where table_schema='public' and table_type='BASE TABLE' order by 2`, []).catch(async () => [])
console.log(rows.map((r: any) => `${r.table_name} ${r.n}`).join('\n'))
await app.close()
