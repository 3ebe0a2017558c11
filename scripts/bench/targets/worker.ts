/** The worker, started like `npm run worker`. */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

// As in `scripts/worker.ts`, before anything else is loaded.
setFlagsFromString('--heap-growing-percent=50')
const { openApp } = await import('#runtime/server/app')
const { openLog } = await import('#runtime/server/log')
const { readSettings } = await import('#runtime/server/settings')
const { gatewaySettings } = await import('../fixture.ts')
const { serveParent } = await import('../processes.ts')

const settings = await readSettings(gatewaySettings(JSON.parse(readFileSync(process.argv[2]!, 'utf8'))))
const app = await openApp({ settings, log: openLog(settings.logLevel), role: 'worker' })
await app.worker.start()
await serveParent(null, async () => {
  await app.worker.stop()
  await app.close()
})
