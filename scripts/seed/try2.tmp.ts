import { openPglite } from '#db/database'
import { migrate } from '#db/migrate'
import { loadRegistry } from '#runtime/registry'
import { openQueue } from '#runtime/queue'
import { machineClock } from '#runtime/clock'
let t = performance.now()
const lap = (n: string) => { const x = performance.now(); console.log(n, Math.round(x - t)); t = x }
lap('imports since start ' + Math.round(performance.now()))
const registry = await loadRegistry(); lap('registry')
const db = await openPglite({ dataDir: process.env.DATA_DIR }); lap('pglite')
await migrate(db); lap('migrate')
const q = await openQueue(db, registry.jobs, machineClock(), { supervise: false, onError: console.error }); lap('queue')
await q.stop(); await db.close(); lap('close')
